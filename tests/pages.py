"""What the pages tell a reader to type, and the programs that they show: the same in the checkout and from a wheel."""

import re
import shlex
from pathlib import Path

from experiments.command_line import find_command, translate_words

PROJECT = Path(__file__).resolve().parents[1]
OWN = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = [*OWN, *sorted((PROJECT / "docs").rglob("*.md")), *sorted((PROJECT / "results").rglob("*.md"))]
TEXTS = {path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
PROGRAM = "dp-replica"
DRY_RUN = "dry_run=true"
QUICK = ("describe", "help", "list", "new", "--version")
"""Commands that are done at once."""

_TAKEN_FOR_GRANTED = {
    "docs/algorithms.md": """
import numpy as np, pandas as pd
from dp_replica import algorithms
rng = np.random.default_rng(0)
X = pd.DataFrame({"age": rng.integers(17, 91, 60), "sex": rng.choice(["Female", "Male"], 60)})
y = rng.choice(["<=50K", ">50K"], 60)
columns = (algorithms.Continuous("age", 17, 90), algorithms.Nominal("sex", ("Female", "Male")))
domain = algorithms.Domain(columns, algorithms.Nominal("income", ("<=50K", ">50K")))
""",
    "docs/claims.md": """
from fractions import Fraction
from dp_replica.experiments.statements.finding import Finding
""",
}
_TAKEN_FOR_GRANTED["docs/releasing.md"] = _TAKEN_FOR_GRANTED["docs/algorithms.md"]
"""Names that a page uses and does not define."""
_SMALLER = {"range(10)": "range(1)", "n=20_000": "n=200", "n=2_000": "n=200"}
"""What takes the time of an example, and less of it, which shows as well that it runs."""


def fenced_blocks(text, *languages):
    """Return the blocks of some languages, in order; "" is a block without one."""
    blocks = re.findall(r"^```([\w{}]*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in blocks if name in languages]


def shell_lines(page, *languages):
    """Return the lines that a page gives to a shell."""
    return [line for block in fenced_blocks(TEXTS[page], *languages) for line in block.splitlines() if line]


def typed_words(page, *languages):
    """Return the words of each line of a page that is one of our commands, without the program."""
    lines = [shlex.split(line, comments=True) for line in shell_lines(page, *languages)]
    return [words[1:] for words in lines if words[:1] == [PROGRAM]]


def stop_early(words):
    """Return the words of a command that ends before it runs anything: with the plan of a sweep, or the settings."""
    if words[0] in QUICK:
        return words
    has_plan = find_command(translate_words(words)) == "reproduce" and any(map(is_dataset, words))
    return [*(word for word in words if word != DRY_RUN), *([DRY_RUN] if has_plan else ["--cfg", "job"])]


def is_dataset(word):
    """Return whether a word names data sets: a sweep has some, a paper has its own, whose plans take seconds."""
    return word.startswith("dataset=")


def list_programs():
    """Return what the pages and the gallery show of Python, each as one program, by the name of its file."""
    programs = {}
    for page in TEXTS:
        if blocks := fenced_blocks(TEXTS[page], "python"):
            programs[page] = "\n".join([_TAKEN_FOR_GRANTED.get(page, ""), *blocks])
    for path in sorted((PROJECT / "docs" / "gallery").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for long, short in _SMALLER.items():
            text = text.replace(long, short)
        programs[path.relative_to(PROJECT).as_posix()] = text
    return programs


def write_files(page, folder):
    """Write the files that the commands of a page find in the current directory."""
    if page == "docs/tutorial.md":
        write(folder / "mine" / "noisy_majority.py", *fenced_blocks(TEXTS[page], "python"))
        write(folder / "mine" / "algorithm" / "noisy_majority.yaml", *fenced_blocks(TEXTS[page], "yaml"))
    if page == "docs/data.md":
        jobs, answers = ("cook", "clerk"), ("well", "badly")
        rows = [f"{20 + i},{i % 9},{jobs[i % 2]},{answers[i % 3 % 2]}" for i in range(40)]
        write(folder / "people.csv", "\n".join(["age,hours,job,sleeps", *rows, ""]))


def write(path, text):
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
