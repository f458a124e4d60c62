"""How Sphinx makes the site: `make docs` builds it into site/, with warnings as errors.

The source directory is the checkout, so links in Markdown mean the same on a code host and on the site.
"""

import gc
import logging
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

gc.set_threshold(20_000, 10, 30)  # what was read stays: to look for garbage among all of it took a fifth of a build
logging.disable(logging.DEBUG)  # Sphinx makes a record of each event, which nobody is shown

# ---------------------------------------------------------------------------------------------- the table of contents
# Below each page, the pages that it leads to: "path without its ending", or "Title <path>". What stands below README
# is the bar at the top of the site. A page that stands nowhere fails the build, and so does a line without a page.
site_contents = {
    "README": [
        "Start <docs/tutorial>",
        "Results <results/reference/README>",
        "Private models <docs/algorithms>",
        "Examples <docs/auto_gallery/index>",
        "Write your own <docs/extending>",
        "API <docs/api/index>",
        "Project <docs/architecture>",
    ],
    "docs/tutorial": [
        "Installed <docs/install>",
        "Commands <docs/commands>",
        "Running <docs/running>",
        "Look around in results <docs/looking>",
        "From Python <docs/python>",
        "Judge <docs/judging>",
        "Metrics <docs/metrics>",
        "Executors <docs/executors>",
        "docs/glossary",
    ],
    "results/reference/README": [
        "What we learned <docs/results>",
        "Algorithms <results/reference/algorithms>",
        "Paper 1: DiffPETs <results/reference/paper-1/README>",
        "Paper 2: RFDPP-Gini <results/reference/paper-2/README>",
        "Paper 3: DPBA-on-PR <results/reference/paper-3/README>",
        "Paper 4: eDPRF <results/reference/paper-4/README>",
        "Paper 5: CPPPW <results/reference/paper-5/README>",
        "Paper 6: PrivaTree <results/reference/paper-6/README>",
        "Benchmark <docs/benchmark>",
        "Benchmark: tables <results/reference/paper-benchmark/README>",
        "Benchmark: slow peers <results/reference/paper-benchmark-heavy/README>",
        "Verdicts <docs/verdicts>",
        "How often is a verdict wrong? <docs/calibration>",
        "The papers, and how to cite <docs/sources>",
        "Readings <docs/readings>",
    ],
    **{
        f"results/reference/paper-{n}/README": [
            f"Each sentence <results/reference/paper-{n}/coverage>",
            f"Evidence <results/reference/paper-{n}/evidence>",
        ]
        for n in range(1, 7)
    },
    "docs/algorithms": [
        "Releasing for real <docs/releasing>",
        "Privacy <docs/privacy>",
        "Audit <docs/audit>",
        "Peers <docs/peers>",
    ],
    "docs/extending": [
        "Data <docs/data>",
        "The data sets <docs/data-sets>",
        "All keys of a data set <docs/dataset-keys>",
        "docs/papers",
        "A worked example <docs/worked-example>",
        "Kinds of claims <docs/claims>",
        "All keys of a paper <docs/paper-keys>",
    ],
    "docs/api/index": ["docs/api/*"],
    "docs/architecture": [
        "Regression check <docs/regression-check>",
        "Speed <docs/speed>",
        "Contributing <CONTRIBUTING>",
        "Changes <CHANGELOG>",
    ],
}

# ------------------------------------------------------------------------------------------------------------- sources
project = "DP-Replica"
author = "the DP-Replica authors"
project_copyright = f"{author}, MIT license"
root_doc = "README"
language = "en"
_PLACES = {"docs", "results"}
exclude_patterns = [
    *sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in _PLACES),
    "results/[!r]*",
    "results/re[!f]*",
    "docs/gallery",
]
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/auto_gallery/*.rst",
    "results/reference/README.md",
    "results/reference/algorithms.md",
    "results/reference/*/README.md",
    "results/reference/*/evidence.md",
    "results/reference/*/coverage.md",
]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "site_pages",
    "source_pages",
]
nitpicky = True
highlight_language = "none"
myst_heading_anchors = 4

# ----------------------------------------------------------------------------------------------------------------- API
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "exclude-members": "model_config, set_fit_request, set_predict_request, set_score_request",  # not ours
}
numpydoc_show_class_members = False
add_module_names = False
default_role = "autolink"
nitpick_ignore_regex = [("py:(obj|class)", ".*")]  # a name or a type is a link where a page describes it
autodoc_typehints_format = "short"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
autodoc_use_type_comments = False  # there are none; to look for them, each function was parsed again
python_maximum_signature_line_length = 100

# ------------------------------------------------------------------------------------------------------------ examples
sphinx_gallery_conf = {
    "examples_dirs": ["docs/gallery"],
    "gallery_dirs": ["docs/auto_gallery"],
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "write_computation_times": False,
    "run_stale_examples": True,  # what they show depends on the code, not on themselves alone
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1000,
    "remove_config_comments": True,
}

# ---------------------------------------------------------------------------------------------------------------- looks
html_theme = "pydata_sphinx_theme"
html_title = "DP-Replica"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_search_scorer = str(ROOT / "docs" / "search_scorer.js")
html_show_search_summary = False  # pages opened from disk may not be fetched
html_show_sourcelink = False
html_additional_pages = {"index": "home.html"}
templates_path = ["templates"]
html_theme_options = {
    "logo": {"text": "DP-Replica"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"[!r]**": ["page-toc"], "results/**": []},  # tables of verdicts take the width
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_sidebars = {"README": []}
