"""Which cells need not be run: those that a store has, if the files that their code had read are what they were.

So a cell is run together with a look at what its code reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from experiments.cells import inputs
from experiments.cells.cell import Cell
from experiments.cells.current import can_be_outdated, has_outdated_files
from experiments.run import evaluate
from experiments.store.database import Store, split_batches
from experiments.store.record import Measured

_AT_ONCE = 20_000


def find_finished(cells: Mapping[str, Cell], store: Store) -> set[str]:
    """Return the keys of the cells that are done and still right, of some cells by key."""
    finished = store.done(cells.keys())
    can_read: dict[tuple, bool] = {}  # of the few kinds of cells that there are
    for batch in split_batches([key for key in finished if _can_be_outdated(cells[key], can_read)], _AT_ONCE):
        for key, record in store.get(batch).items():
            if record.measured and has_outdated_files(cells[key], record.measured.details):
                finished.discard(key)
    return finished


def _can_be_outdated(cell: Cell, known: dict[tuple, bool]) -> bool:
    kind = cell.algorithm, cell.metrics
    if kind not in known:
        known[kind] = can_be_outdated(cell)
    return known[kind]


def evaluate_and_note_files(cell: Cell) -> Measured:
    """Run one cell, and note which files code of a user has read for it."""
    measured = evaluate.evaluate_cell(cell)
    read = inputs.list_read(cell.algorithm, cell.metrics)
    return replace(measured, details=measured.details | {"read": read}) if read else measured
