"""Load data sets by name, or say in one line why they cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import datasets
from datasets import catalogue
from datasets.catalogue import UnknownDataset
from documents.yaml_files import DocumentError
from experiments.errors import BadInput

if TYPE_CHECKING:
    from datasets.entry import CatalogueEntry


def explain_missing(names: set[str]) -> dict[str, str]:
    """Load data sets, downloading them if need be, and return why those that are missing cannot be had.

    Here, in the parent, so that workers do not all download the same file.
    """
    reasons = {}
    for name in sorted(names):
        try:
            datasets.load(name)
        except datasets.DataUnavailable as error:
            reasons[name] = " ".join(str(error).split())
    return reasons


def find_entry(dataset: str) -> CatalogueEntry:
    """Return what the catalogue says about a data set; BadInput if neither it nor the rows tell it."""
    try:
        return catalogue.read_entry(dataset)
    except (UnknownDataset, DocumentError, datasets.DataUnavailable) as error:
        raise BadInput(str(error)) from error


def task_and_domain(dataset: str) -> tuple:
    """Return task and public domain of a data set; BadInput if neither the catalogue nor its rows tell them."""
    entry = find_entry(dataset)
    return entry.task, entry.domain
