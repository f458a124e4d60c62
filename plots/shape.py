"""What a table or figure of a paper may say: its keys, its axes, its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

from experiments.config.selection import PaperError, axis, study_of
from experiments.errors import suggestion

_TABLES = {
    "datasets": (("datasets",), ()),
    "grid": (("study", "rows", "columns", "metric"), ("where", "center")),
    "span": (("studies", "algorithms", "metric"), ()),
}
_FIGURES = {
    "lines": (("study", "x", "lines", "metric"), ("where", "center", "y", "bottom", "top", "marks")),
    "fit": (("dataset", "feature", "algorithm", "params", "epsilon"), ()),
    "ledger": (("dataset", "algorithm", "params", "epsilon"), ()),
    "tradeoff": (("curves", "x", "y"), ()),
    "ranks": (("study", "metric"), ("where", "advises")),
    "soundness": (("study", "metric", "pairs"), ("where",)),
}


def check_keys(item: Mapping, is_table: bool) -> None:
    """Check that a table or figure says all that its kind needs and nothing else; figures are ``lines`` by default.

    Raises
    ------
    PaperError
        If it does not.

    Examples
    --------
    >>> check_keys({"id": "table-1", "title": "T", "kind": "datasets", "datasets": ["car"]}, is_table=True)
    >>> check_keys({"id": "table-1", "title": "T", "kind": "datasets", "dataset": "car"}, is_table=True)
    Traceback (most recent call last):
    ...
    experiments.config.selection.PaperError: table-1: kind datasets needs datasets; it needs id, title, datasets
    """
    kinds, name = (_TABLES if is_table else _FIGURES), item.get("id")
    kind = item.get("kind", None if is_table else "lines")
    if kind not in kinds:
        raise PaperError(f"{name}: kind {kind!r} is not one of {', '.join(kinds)}")
    needed, optional = ("id", "title", *kinds[kind][0]), ("kind", *kinds[kind][1])
    for key in needed:
        if key not in item:
            raise PaperError(f"{name}: kind {kind} needs {key}; it needs {', '.join(needed)}")
    for key in item:
        if key not in (*needed, *optional):
            raise PaperError(f"{name}: kind {kind} knows no {key!r}; {suggestion(key, (*needed, *optional))}")
    if ("metric" in (item.get("columns"), item.get("x"))) != isinstance(item.get("metric"), list):
        place = "columns" if is_table else "x"
        raise PaperError(f"{name}: {place}: metric goes with a list of metrics, and a list with that")
    _check_marks(name, item.get("marks", {}))


def axes_of(item: Mapping) -> list[str]:
    """Return the two axes of a grid table or of a figure of lines.

    Examples
    --------
    >>> axes_of({"rows": "dataset", "columns": "epsilon"}), axes_of({"x": "epsilon", "lines": "algorithm"})
    (['dataset', 'epsilon'], ['algorithm', 'epsilon'])
    """
    return [item["rows"], item["columns"]] if "rows" in item else [item["lines"], item["x"]]


def check_axes(paper: Mapping, item: Mapping) -> None:
    """Check that the study of a table or figure has the two axes, and what ``where`` names.

    Raises
    ------
    PaperError
        If it has not.
    """
    study = study_of(paper, item)
    for name in axes_of(item):
        if name != "metric":
            try:
                axis(study, name, item.get("where"))
            except PaperError as error:
                raise PaperError(f"{item['id']}: {error}") from error


def _check_marks(name: str, marks) -> None:
    values = marks.values() if isinstance(marks, Mapping) else [None]
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        raise PaperError(f"{name}: marks: write {{label: place on the x axis, ...}}, got {marks!r}")
