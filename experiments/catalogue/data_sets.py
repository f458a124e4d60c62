"""``describe dataset=NAME``: what a data set is, on one screen; one that comes with the code, or somebody's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import datasets
from algorithms.encoding.features import Continuous, Nominal
from datasets import catalogue, source
from datasets.entry import CatalogueEntry
from datasets.tuning import find_side
from documents import search_path
from documents.composed_yaml import read_heading
from documents.yaml_files import DocumentError, shorten_path
from experiments.catalogue.screen import HEIGHT, format_command, format_field, hang_text
from experiments.catalogue.uses import list_stand_ins, list_users, name_example_on
from experiments.errors import BadInput

_MOST_CLASSES = 12
_SIDES: dict[str | None, str] = {
    "chosen_on": "constants of our methods were chosen on it: no advice comes from it",
    "held_out": "held out: no constant of a method of ours was chosen on it",
}


def describe_dataset(name: str) -> str:
    """Return what a data set is, as text of at most 80 columns and about 40 lines; errors as of `read_dataset`."""
    entry = read_dataset(name)
    target, file = entry.domain.target, search_path.find_file(catalogue.FOLDER, name)
    fields = {
        "What": read_heading(file) if file else "",
        "Task": f"{entry.task} of {target.name}",
        "Rows": _describe_rows(entry),
        "Classes": _describe_classes(entry),
        "Target": f"from {target.lower:,.12g} to {target.upper:,.12g}" if isinstance(target, Continuous) else "",
        "Source": _describe_source(entry),
        "Licence": entry.licence or "not stated in what was at hand: ask its source",
        "Here": _describe_place(entry),
        "Left out": _describe_left_out(entry),
        "Domain": _describe_domain(entry),
        "Bounds": " ".join(entry.bounds_from.split()),
        "Stand-ins": _describe_stand_ins(entry),
        "Papers": ", ".join(list_users(name)),
        "Tuning": _SIDES.get(find_side(name), ""),
    }
    lines = hang_text("", f"{name}: {entry.title}")
    for label, text in fields.items():
        lines += format_field(label, text, 3) if text else []
    command = format_command("Run", name_example_on(name))
    return "\n".join([*lines, *_format_columns(entry, HEIGHT - len(lines) - len(command)), *command])


def read_dataset(name: str) -> CatalogueEntry:
    """Return what the catalogue says of a data set; what the file of one's own leaves out is taken from its rows.

    It is BadInput if there is none of that name, or its file or its rows cannot be read.
    """
    try:
        return catalogue.read_entry(name)
    except (catalogue.UnknownDataset, DocumentError, datasets.DataUnavailable) as error:
        raise BadInput(str(error)) from error


def count_classes(entry: CatalogueEntry) -> int | None:
    """Return how many classes a data set declares; None of a regression."""
    target = entry.domain.target
    return len(target.categories) if isinstance(target, Nominal) else None


def _describe_rows(entry: CatalogueEntry) -> str:
    n_nominal = sum(isinstance(feature, Nominal) for feature in entry.domain.features)
    n_columns = len(entry.domain.features)
    columns = f"{entry.rows:,}, with {n_columns} columns: {n_columns - n_nominal} of numbers, {n_nominal} nominal"
    if entry.n_train is None:
        return f"{columns}; no official split: 70 of 100 rows train, drawn anew in each repeat"
    return f"{columns}; official split: the first {entry.n_train:,} train, {entry.rows - entry.n_train:,} test"


def _describe_classes(entry: CatalogueEntry) -> str:
    """Return the classes with their shares, where the rows are here."""
    target = entry.domain.target
    if not isinstance(target, Nominal):
        return ""
    shares = _count_shares(entry)
    named = [f"{label} {shares[label]:.1%}" if shares else str(label) for label in target.categories]
    hidden = len(named) - _MOST_CLASSES
    shown = [*named[:_MOST_CLASSES], f"{hidden} more"] if hidden > 0 else named
    return f"{len(named)}: {', '.join(shown)}" + ("" if shares else " (shares: once the rows are here)")


def _count_shares(entry: CatalogueEntry) -> dict[str, float]:
    if not datasets.is_available(entry.name):
        return {}
    try:
        labels = datasets.load(entry.name).target
    except (datasets.DataUnavailable, DocumentError) as error:
        raise BadInput(" ".join(str(error).split())) from error
    counts = Counter(map(str, labels))
    return {str(label): counts[str(label)] / len(labels) for label in entry.domain.target.categories}


def _describe_source(entry: CatalogueEntry) -> str:
    if entry.own_file is not None and entry.uci is None and entry.openml is None:
        return f"yours: {shorten_path(entry.own_file)}"
    named = [entry.origin] if entry.origin else []
    named += [f"UCI, data set {entry.uci}"] if entry.uci is not None else []
    named += [f"OpenML, data set {entry.openml}"] if entry.openml is not None else []
    named += [f"Kaggle, {entry.kaggle}"] if entry.kaggle else []
    named += [f"the wheel {wheel} of the package index" for wheel in entry.wheels]
    return "; ".join(named) or f"the files {', '.join(entry.files)}"


def _describe_place(entry: CatalogueEntry) -> str:
    if datasets.is_available(entry.name):
        return "yes: its rows can be read without a network"
    return f"no: it is downloaded when it is run; where that fails, {source.describe_remedy(entry)}"


def _describe_left_out(entry: CatalogueEntry) -> str:
    reasons = ["rows with a missing value"] if entry.drop_missing else []
    reasons += ["rows beyond the declared bounds"] if entry.drop_beyond_bounds else []
    reasons += [f"rows whose {column} is not {value}" for column, value in entry.rows_where.items()]
    merged = [f"{', '.join(labels)} count as {name}" for name, labels in entry.merge_classes.items()]
    nominal = [feature for feature in entry.domain.features if isinstance(feature, Nominal)]
    kept = [feature.name for feature in nominal if "?" in feature.categories]
    said = [f"{' and '.join(reasons)}{_count_left_out(entry)}" if reasons else "no row"]
    said += merged + ([f"missing is a category, ?, of {', '.join(kept)}"] if kept else [])
    return "; ".join(said)


def _count_left_out(entry: CatalogueEntry) -> str:
    n_rows = datasets.count_original_rows(entry.name) if datasets.is_available(entry.name) else None
    return f": {n_rows - entry.rows:,} of {n_rows:,}" if n_rows and n_rows > entry.rows else ""


def _describe_domain(entry: CatalogueEntry) -> str:
    followed = entry.domain.bounds_from_rows
    if not followed:
        return "public: nothing in it follows the rows"
    named = ", ".join(followed[:6]) + (f" and {len(followed) - 6} more" if len(followed) > 6 else "")
    return f"follows the rows in {named}: every account says so"


def _describe_stand_ins(entry: CatalogueEntry) -> str:
    said = [f"it is cut from the first rows of {entry.first_rows_of}"] if entry.first_rows_of else []
    return "; ".join([*said, *list_stand_ins(entry.name)])


def _format_columns(entry: CatalogueEntry, room: int) -> list[str]:
    rows = list(_list_columns(entry))
    width = min(max(len(name) for name, _ in rows), 24)
    most = len(rows) if len(rows) < room else max(room - 2, 5)
    lines = format_field("Columns", "each with its declared bounds or categories")
    for name, declared in rows[:most]:
        lines += hang_text(f"  {name[:24].ljust(width)}  ", declared, 1)
    return lines + ([f"  and {len(rows) - most} more"] if len(rows) > most else [])


def _list_columns(entry: CatalogueEntry) -> Iterator[tuple[str, str]]:
    for feature in entry.domain.features:
        if isinstance(feature, Continuous):
            yield feature.name, f"{feature.lower:,.12g} to {feature.upper:,.12g}"
        else:
            yield feature.name, f"{len(feature.categories)}: {', '.join(map(str, feature.categories))}"
