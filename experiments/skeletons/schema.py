"""The keys of papers and data sets, for editors and for readers: JSON Schemas, and pages of the documentation.

Both come from the documents themselves, whose fields are the keys and whose texts are their documentation. A further
page lists the data sets that come with the code.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from algorithms.encoding.features import Nominal
from datasets import catalogue
from datasets.entry import Bounds, CatalogueEntry, DeclaredColumns, OwnEntry
from datasets.tuning import find_side
from documents.document import Document
from documents.publication import Publication
from experiments.config.kinds import find_kind, list_kinds
from experiments.config.paper import Paper, Passage, RegressionWatch, Watch
from experiments.config.paths import CONF, ROOT
from experiments.config.protocol import Protocol
from experiments.config.readings import Choices, ClaimCurve, QuestionOfClaims, QuestionOfNumbers, QuestionOfTable
from experiments.config.study import Curve, Study

SCHEMA_FILE = CONF / "paper" / "schema.json"
DATASET_SCHEMA_FILE = CONF / "dataset" / "schema.json"
KEYS_FILE = ROOT / "docs" / "paper-keys.md"
DATASET_KEYS_FILE = ROOT / "docs" / "dataset-keys.md"
DATASETS_FILE = ROOT / "docs" / "data-sets.md"

_SECTIONS = ("claims", "tables", "figures")
_QUESTIONS = (QuestionOfNumbers, QuestionOfTable, QuestionOfClaims)


def make_paper_schema() -> dict[str, Any]:
    """Return the JSON Schema of a paper's file, every kind of claim, table and figure included."""
    kinds = {section: [find_kind(section, kind) for kind in list_kinds(section)] for section in _SECTIONS}
    classes: list[type[BaseModel]] = [Paper, *_QUESTIONS, *chain.from_iterable(kinds.values())]
    names, schema = models_json_schema([(kind, "validation") for kind in classes], by_alias=False)
    definitions = schema["$defs"]
    paper = definitions.pop("Paper")
    for section, kinds_of_section in {**kinds, "readings": _QUESTIONS}.items():
        references = [names[kind, "validation"] for kind in kinds_of_section]
        paper["properties"][section] = {
            "description": paper["properties"][section]["description"],
            "type": "array",
            "items": {"anyOf": references},
        }
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **paper, "title": "A paper of DP-Replica", "$defs": definitions}


def format_keys_page() -> str:
    """Return the page of the documentation that lists every key of a paper's file."""
    lines = [
        "# The keys of a paper's file",
        "",
        "A paper is one YAML file, `conf/paper/N.yaml`. A key that is not listed here is refused, with the nearest",
        "name, its file and its line; `conf/paper/schema.json` says the same to editors, which check YAML while it is",
        "written. `make pages` writes this page and the schema, from the classes in `experiments/config`.",
        "",
        *_format_class("A paper", Paper),
        *_format_class("`publication`", Publication),
        *_format_class("A study", Study),
        *_format_class("`protocol`", Protocol),
    ]
    for section, heading in (("tables", "Tables"), ("figures", "Figures"), ("claims", "Claims")):
        lines += [f"## {heading}", ""]
        for kind in list_kinds(section):
            lines += _format_class(f"`kind: {kind}`", find_kind(section, kind), level=3)
    lines += [*_format_class("A curve of a claim or figure", Curve)]
    lines += _format_class("An entry of `coverage`", Passage)
    lines += [*_format_class("`choices`", Choices), *_format_class("An entry of `choices: curves`", ClaimCurve)]
    lines += ["## Readings", ""]
    for question in _QUESTIONS:
        lines += _format_class((inspect.getdoc(question) or "").splitlines()[0], question, level=3)
    lines += [*_format_class("`check`", RegressionWatch), *_format_class("An entry of `check: watch`", Watch)]
    return "\n".join(lines).rstrip() + "\n"


def make_dataset_schema() -> dict[str, Any]:
    """Return the JSON Schema of a data set's file."""
    kinds: tuple[type[BaseModel], ...] = (CatalogueEntry, OwnEntry)
    names, schema = models_json_schema([(kind, "validation") for kind in kinds], by_alias=False)
    dialect = "https://json-schema.org/draft/2020-12/schema"
    either = [names[kind, "validation"] for kind in kinds]
    return {"$schema": dialect, "anyOf": either, "title": "A data set of DP-Replica", "$defs": schema["$defs"]}


def format_dataset_keys_page() -> str:
    """Return the page of the documentation that lists every key of a data set's file."""
    lines = [
        "# The keys of a data set's file",
        "",
        "A data set is one YAML file, `dataset/NAME.yaml`: a [table of your own](data.md), or one whose rows are",
        "pinned, beside the [reader](extending.md) of its files. As in a paper's file, a key that is not listed here",
        "is refused, with the nearest name, its file and its line, and `conf/dataset/schema.json` says the same to",
        "editors. `make pages` writes this page and the schema.",
        "",
        *_format_class("A table of one's own", OwnEntry),
        *_format_class("A data set whose rows are pinned", CatalogueEntry),
        *_format_class("`domain`", DeclaredColumns),
        *_format_class("A column of numbers", Bounds),
    ]
    return "\n".join(lines).rstrip() + "\n"


def format_datasets_page() -> str:
    """Return the page of the documentation that lists the data sets of ``conf/dataset``."""
    lines = [
        "# The data sets",
        "",
        "These data sets come with the code, as files `conf/dataset/NAME.yaml`. Such a file says how many rows the",
        "data set has, what is publicly known of its columns (their bounds and categories), and where both are from.",
        "Only the rows of Car and Nursery come along; the others are [looked for on disk and downloaded](data.md).",
        "",
        "- *From the rows*: of how many columns, target included, no source gives the bounds, so that they were chosen",
        "  to fit these very rows ([Privacy](privacy.md#bounds-that-follow-the-rows)).",
        "- *Held out*: no constant of a method of ours was [chosen on this data set](extending.md#held-out).",
        "- *Source*: where the rows were first published. UCI is the Machine Learning Repository of the University of",
        "  California, Irvine. Many of the rows come as files of KEEL, a collection of data sets in one format.",
        "- *Licence*: UCI states CC BY 4.0 (Creative Commons, with attribution) of the data sets in its repository.",
        "  *Not stated* means that nothing we had at hand names a licence: ask the source before you pass rows on.",
        "",
        "`dp-replica describe dataset=NAME` shows one of them with all of its columns.",
        "",
        "| name | title | rows | columns | classes | from the rows | held out | source | licence |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_format_dataset, sorted(path.stem for path in catalogue.FOLDER.glob("*.yaml"))),
    ]
    return "\n".join(lines) + "\n"


def _format_dataset(name: str) -> str:
    entry = catalogue.read_entry(name)
    target = entry.domain.target
    cells = [
        f"`{name}`",
        entry.title,
        f"{entry.rows:,}",
        str(len(entry.domain.features)),
        str(len(target.categories)) if isinstance(target, Nominal) else "number",
        str(len(entry.domain.bounds_from_rows)),
        "yes" if find_side(name) == "held_out" else "",
        re.sub(r"^UCI (\d+)$", r"[UCI \1](https://archive.ics.uci.edu/dataset/\1)", entry.published_at),
        entry.licence or "not stated",
    ]
    return f"| {' | '.join(cells)} |"


def format_generated() -> dict[Path, str]:
    """Return the contents of every file about keys, by its path."""
    return {
        SCHEMA_FILE: _format_json(make_paper_schema()),
        KEYS_FILE: format_keys_page(),
        DATASET_SCHEMA_FILE: _format_json(make_dataset_schema()),
        DATASET_KEYS_FILE: format_dataset_keys_page(),
        DATASETS_FILE: format_datasets_page(),
    }


def _format_json(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _format_class(title: str, kind: type[Document], level: int = 2) -> list[str]:
    """Return a section about one class: its docstring, and a table of its keys."""
    text = inspect.getdoc(kind) or ""
    heading = f"{'#' * level} {title}"
    table = ["| key | | what it says |", "|---|---|---|", *_format_keys(kind)]
    return [heading, "", *([text, ""] if text != title else []), *table, ""]


def _format_keys(kind: type[Document]) -> Iterator[str]:
    texts = kind.describe_keys()
    for name, field in kind.model_fields.items():
        if field.exclude or name == "kind":
            continue
        need = "required" if field.is_required() else "optional"
        text = " ".join(texts.get(name, "").split()).replace("|", "\\|")
        yield f"| `{name}` | {need} | {text} |"
