"""``list``: what there is, grouped, each with a line about it; as text, or as data for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import datasets
from documents import search_path
from documents.composed_yaml import read_heading
from documents.variants import name_place, split_place
from experiments.catalogue.kinds import KINDS, read_kind
from experiments.catalogue.metrics import GROUPS
from experiments.catalogue.screen import hang_text, split_sentences
from experiments.catalogue.uses import read_titles
from experiments.config.paths import PAPERS, is_built_in
from experiments.errors import BadInput

_WIDEST_NAME = 32

_PAPERS = {
    "paper": "whose numbers and claims are run again",
    "study": "comparisons of ours, and a tour",
    "own": "yours: from folders that you added",
}
_DATASETS = {
    "classification": "the target is a class",
    "regression": "the target is a number",
    "unknown": "files that cannot be read",
}
HEADINGS: Mapping[str, Mapping[str, str]] = {
    "algorithms": KINDS,
    "datasets": _DATASETS,
    "metrics": GROUPS,
    "papers": _PAPERS,
}
"""By what is listed: its groups in their order, each with what its members have in common."""

Row = dict[str, Any]  #: what is said of one thing: ``name``, ``group``, ``what``, and more for programs


def list_algorithm_rows(kinds: Sequence[str] = (), tasks: Sequence[str] = (), is_brief: bool = False) -> list[Row]:
    """Return the algorithms of some kinds and tasks, or of all: in the order of the kinds, each before its variants.

    Brief rows have what the lines of a text need, and of our algorithms no more: to import their classes, which know
    their tasks, takes longer than all else.
    """
    places = sorted(search_path.list_files(search_path.ALGORITHMS).values(), key=_order_place)
    chosen = [place for place in places if not kinds or read_kind(place) in kinds]
    describe = partial(_describe_algorithm, is_brief=is_brief and not tasks)
    rows = _keep_tasks(list(map(describe, chosen)), tasks)
    order = list(KINDS)
    return [row for _, row in sorted(_group_rows(rows), key=lambda pair: order.index(pair[0]))]


def _order_place(place: Path) -> tuple[str, bool, str]:
    """Return what puts the variants of a file together, those of its own kind first."""
    file, _ = split_place(place)
    return file.stem, read_kind(place) != read_kind(file), name_place(place)


def list_dataset_rows(tasks: Sequence[str] = ()) -> list[Row]:
    """Return the data sets of some tasks, or all, those of a task together."""
    rows = sorted(map(_describe_dataset, datasets.names()), key=lambda row: list(_DATASETS).index(row["group"]))
    return _keep_tasks(rows, tasks)


def list_paper_rows() -> list[Row]:
    """Return the papers, the studies that are none, and those of folders that a user adds."""
    titles, rows = read_titles(), []
    for name, file in search_path.list_files(PAPERS).items():
        group = "own" if not is_built_in(file) else "paper" if name.isdigit() else "study"
        rows.append({"name": name, "group": group, "what": titles.get(name, "its file cannot be read")})
    return sorted(rows, key=lambda row: list(_PAPERS).index(row["group"]))


def format_rows(rows: Sequence[Row], headings: Mapping[str, str]) -> str:
    """Return rows as text of 80 columns, each group below what its members have in common: ``headings`` says it."""
    lines: list[str] = []
    groups: dict[str, list[Row]] = {}
    for group, row in _group_rows(rows):
        groups.setdefault(group, []).append(row)
    for group, members in groups.items():
        n_own = sum(row["group"] == group for row in members)
        beside = f", and {len(members) - n_own} variants of other kinds" if n_own < len(members) else ""
        lines += ["", *hang_text("", f"{group}: {headings[group]} ({n_own}{beside})")]
        width = min(max(len(row["name"]) for row in members), _WIDEST_NAME)
        for row in members:
            lines += _format_row(row, group, width)
    return "\n".join(lines[1:])


def _group_rows(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """Return rows with the group in which each is listed: a variant where the first of its algorithm is listed."""
    groups: dict[str, str] = {}
    return [(groups.setdefault(row["name"].partition(":")[0], row["group"]), row) for row in rows]


def _format_row(row: Row, group: str, width: int) -> list[str]:
    head = f"  {row['name'].ljust(width)}  "
    what = row["what"] if row["group"] == group else f"{row['group']}: {row['what']}"
    what += f" [{row['stored_as']}]" if row.get("stored_as", row["name"]) != row["name"] else ""
    if len(row["name"]) <= width:
        return hang_text(head, what)
    return [f"  {row['name']}", *hang_text(" " * (width + 4), what)]


def _describe_algorithm(place: Path, is_brief: bool) -> Row:
    name = name_place(place)
    row = {"name": name, "group": read_kind(place), "stored_as": search_path.name_stored(name)}
    if is_brief and place.parent == search_path.ALGORITHMS:
        return {**row, "what": split_sentences(read_heading(place))[0]}
    from experiments.catalogue.algorithms import read_algorithm  # with every estimator, which nothing else here needs

    try:
        entry = read_algorithm(name)
    except BadInput as error:
        return {**row, "what": f"cannot be read: {error}", "task": "unknown"}
    return {**row, "what": split_sentences(entry.what)[0], "task": entry.task, "whose": entry.whose}


def _describe_dataset(name: str) -> Row:
    from experiments.catalogue.data_sets import (  # with pandas, which nothing else here needs
        count_classes,
        read_dataset,
    )

    try:
        entry = read_dataset(name)
    except BadInput as error:
        return {"name": name, "group": "unknown", "what": f"cannot be read: {error}", "task": "unknown"}
    n_columns, n_classes = len(entry.domain.features), count_classes(entry)
    classes = f", {n_classes} classes" if n_classes else ""
    place = "" if datasets.is_available(name) else "; not here"
    owner = "" if entry.own_file is None else "; yours"
    what = f"{entry.title}: {entry.rows:,} rows, {n_columns} columns{classes}{owner}{place}"
    numbers = {"title": entry.title, "rows": entry.rows, "columns": n_columns, "classes": n_classes}
    return {"name": name, "group": entry.task, "what": what, "task": entry.task, **numbers}


def _keep_tasks(rows: Sequence[Row], tasks: Sequence[str]) -> list[Row]:
    return [row for row in rows if not tasks or row["task"] in tasks]
