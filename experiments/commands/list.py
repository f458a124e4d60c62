"""``do=list``: the algorithms, data sets, metrics or papers that there are, a line for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from algorithms.installation import PROGRAM
from experiments.catalogue.kinds import check_kind
from experiments.catalogue.listing import (
    HEADINGS,
    Row,
    format_rows,
    list_algorithm_rows,
    list_dataset_rows,
    list_paper_rows,
)
from experiments.catalogue.metrics import list_metric_rows
from experiments.errors import BadInput
from experiments.request import SweepRequest

_TASKS = ("classification", "regression")
_LISTS: dict[str, tuple[Callable[..., list[Row]], tuple[str, ...]]] = {
    "algorithms": (list_algorithm_rows, ("kind", "task")),
    "datasets": (list_dataset_rows, ("task",)),
    "metrics": (list_metric_rows, ("task",)),
    "papers": (list_paper_rows, ()),
}
"""What can be listed: who lists it, and by which settings, in their order."""
_MORE = {
    "algorithms": (
        "[NAME]: the older name of a variant, which its results have; it can be typed as well.\n"
        f"{PROGRAM} describe algorithm=NAME says what one of them is."
    ),
    "datasets": f"{PROGRAM} describe dataset=NAME says what one of them is.",
    "metrics": f"{PROGRAM} describe metric=NAME says what one of them is.",
    "papers": f"{PROGRAM} paper=NAME runs one of them.",
}


def run_command(request: SweepRequest) -> int:
    """Print what there is; returns the exit code."""
    what, output = request.config["what"], _check_word("output", request.config["output"], ("table", "json"))
    if what is None:
        raise BadInput(f"name what to list: list {'|'.join(_LISTS)}")
    list_rows, settings = _LISTS[_check_word("what", what, list(_LISTS))]
    chosen = {name: _read_words(request, name) for name in ("kind", "task")}
    for name, words in chosen.items():
        if words and name not in settings:
            raise BadInput(f"{name}: {what} have none; leave it out")
    for kind in chosen["kind"]:
        check_kind(kind, "kind")
    for task in chosen["task"]:
        _check_word("task", task, _TASKS)
    brief = {"is_brief": True} if what == "algorithms" and output == "table" else {}
    rows = list_rows(*(chosen[name] for name in settings), **brief)
    if output == "json":
        print("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    else:
        print(f"{format_rows(rows, HEADINGS[what])}\n\n{_MORE[what]}" if rows else f"no {what} of these")
    return 0


def _read_words(request: SweepRequest, name: str) -> list[str]:
    return [str(word) for word in request.values.get(name, []) if word is not None]


def _check_word(name: str, word: object, choices: Sequence[str]) -> str:
    if word not in choices:
        raise BadInput(f"{name}: there is no {word!r}; choose from {', '.join(choices)}")
    return str(word)
