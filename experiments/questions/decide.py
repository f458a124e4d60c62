"""Run papers until their verdicts are decided: their repeats for the picture, as many as it takes for the verdicts.

Cells are run in rounds. After each, every claim and number that is not decided says which settings need how many
repeats; what is settled gets no more. Which cells that are depends on the results of the cells before alone, so that
neither the number of jobs, nor the order, nor a kill changes it, and a run that is taken up again goes on where it
stopped. Several papers have their rounds together: no core waits for the last long cells of one. Each is given what it
gives alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import pandas as pd

from documents.yaml_files import DocumentError
from experiments.cells.cell import Cell
from experiments.errors import BadInput, one_line, print_to_stderr
from experiments.judge.claim_answers import list_claim_needs
from experiments.judge.number_answers import list_number_needs
from experiments.judge.question import AskedClaim, ClaimQuestion, Need
from experiments.judge.tasks import RunTasks, run_here
from experiments.questions.paper_questions import PaperQuestions
from experiments.run.more_metrics import keep_asked, merge_metrics
from experiments.store.long_table import long_table
from experiments.store.record import Record
from experiments.store.results import Results, SettingKey


class Round(NamedTuple):
    """Cells that are run before anything is judged again, and the reason for them in words; none of the first."""

    cells: list[Cell]
    reason: str


Run = Callable[[list[Cell], str], Mapping[str, Record]]
"""Runs cells, for a reason given in words, and returns the records of all of them that are there."""
Deciding = Generator[Round, Mapping[str, Record], pd.DataFrame]
"""Yields one round after the other, is sent the records of its cells, and returns the long table of all."""


class PaperErrors:
    """What goes wrong with single papers of a command that runs so many: each is left out, and the others go on.

    One that is run alone raises its error at once.
    """

    def __init__(self, n_papers: int) -> None:
        self._n_papers = n_papers
        self._errors: list[Exception] = []

    def leave_out(self, name: str, error: Exception) -> None:
        """Say that a paper is left out, and why; raise what is no error of the paper: nobody reads on."""
        if self._n_papers == 1 or isinstance(error, BrokenPipeError):
            raise error
        print_to_stderr(f"paper {name} is left out: {one_line(error)}")
        self._errors.append(error)

    def raise_first(self) -> None:
        """Raise the first of the errors, if there are any: to be called once the other papers are done."""
        if self._errors:
            raise self._errors[0]


def run_until_decided(
    questions: PaperQuestions,
    run: Run,
    claims: Sequence[AskedClaim] | None = None,
    run_tasks: RunTasks = run_here,
) -> pd.DataFrame:
    """Run the cells of a paper, and then as many more as its verdicts take; return the long table of all.

    See `list_rounds`.
    """
    return next(run_together({"": list_rounds(questions, claims, run_tasks)}, run, PaperErrors(1)))[1]


def run_together(papers: Mapping[str, Deciding], run: Run, errors: PaperErrors) -> Iterator[tuple[str, pd.DataFrame]]:
    """Run rounds of several papers as one, until all are decided; yield each with its long table when it is.

    Parameters
    ----------
    papers : mapping of str to generator
        The rounds of each paper by its name, as from `list_rounds`.
    run : callable
        Runs the cells of a round of all; of those papers at once whose cells ask for the same metrics.
    errors : PaperErrors
        Takes what a paper raises, which is left out then; but what is refused before anything is run ends all.
    """
    undecided = dict(papers)
    records: dict[str, Mapping[str, Record] | None] = dict.fromkeys(papers)
    while undecided:
        asked: dict[str, Round] = {}
        for name, rounds in list(undecided.items()):
            try:
                asked[name] = rounds.send(records[name])  # type: ignore[arg-type] # nothing begins the first
            except StopIteration as decided:
                del undecided[name]
                yield name, decided.value
            except Exception as error:
                if records[name] is None and isinstance(error, BadInput | DocumentError):
                    raise
                del undecided[name]
                errors.leave_out(name, error)
        for some in _split_passes(asked):
            reasons = [_name_reason(name, one.reason, len(papers)) for name, one in some.items() if one.reason]
            found = run(list(chain.from_iterable(one.cells for one in some.values())), "\n".join(reasons))
            for name, one in some.items():
                records[name] = {cell.key: found[cell.key] for cell in one.cells if cell.key in found}


def _split_passes(asked: Mapping[str, Round]) -> list[dict[str, Round]]:
    """Put papers into one pass, unless they ask for different metrics of a cell: one that fails may end the cell."""
    passes: list[tuple[dict[str, Round], dict[str, tuple[str, ...]]]] = []
    for name, one in asked.items():
        metrics = {key: cell.metrics for key, cell in merge_metrics(one.cells).items()}
        for rounds, known in passes:
            if all(known.get(key, names) == names for key, names in metrics.items()):
                rounds[name] = one
                known.update(metrics)
                break
        else:
            passes.append(({name: one}, metrics))
    return [rounds for rounds, _ in passes]


def _name_reason(name: str, reason: str, n_papers: int) -> str:
    return f"paper {name}, {reason}" if n_papers > 1 else reason


def list_rounds(
    questions: PaperQuestions, claims: Sequence[AskedClaim] | None = None, run_tasks: RunTasks = run_here
) -> Deciding:
    """Yield the cells of a paper, and then as many more as its verdicts take; return the long table of all.

    A paper's ``most_repeats`` are the end of all rounds. If claims are given, nothing is run that they and the printed
    numbers do not need; else all of the paper's are decided, after its own repeats. The table has no columns if no cell
    was run.
    """
    done = {name: [] if claims is not None else list(cells) for name, cells in questions.cells.items()}
    records: dict[str, Record] = {}
    tables = []
    if first_cells := list(chain.from_iterable(done.values())):
        records.update((yield Round(first_cells, "")))
        tables.append(_tabulate(done, records))
    asked = [claim.question for claim in (questions.claims if claims is None else claims)]
    undecided = [question for question in asked if isinstance(question, ClaimQuestion)]
    before: Results | None = None
    further: dict[str, list[Cell]] = {}
    while True:
        results = Results(pd.concat(tables) if tables else pd.DataFrame(), before, further)
        needs_of = run_tasks([partial(list_claim_needs, one, one.gather(results)) for one in undecided])
        undecided = [question for question, needs in zip(undecided, needs_of, strict=True) if needs]
        of_numbers = list_number_needs(questions.numbers, results, run_tasks)
        needs = [*chain.from_iterable(needs_of), *of_numbers]
        further = _list_further(done, questions.settings, needs)
        if not further:
            return _tabulate(done, records) if tables else pd.DataFrame()
        for name, of_study in further.items():
            done[name] += of_study
        new = yield Round(
            list(chain.from_iterable(further.values())), _describe_open(len(undecided), of_numbers, needs)
        )
        is_known = not new.keys().isdisjoint(records)  # a cell of another study, too, which may have failed before
        before = None if is_known else results
        records.update(new)
        tables = [_tabulate(done, records)] if is_known else [*tables, _tabulate(further, records)]


def _tabulate(cells: Mapping[str, list[Cell]], records: Mapping[str, Record]) -> pd.DataFrame:
    """Return the long table of what a paper has asked for."""
    return long_table(cells, keep_asked(chain.from_iterable(cells.values()), records))


def _describe_open(n_claims: int, of_numbers: Sequence[Need], needs: Sequence[Need]) -> str:
    """Return what is still open, and how many repeats it takes."""
    claims = [f"{n_claims} claim{'s' if n_claims > 1 else ''}"] if n_claims else []
    numbers = ["printed numbers"] if of_numbers else []
    most = max(need.repeats for need in needs)
    return f"still open: {' and '.join(claims + numbers)}; up to {most} repeats of some settings"


def _list_further(
    done: Mapping[str, Sequence[Cell]], settings: Mapping[SettingKey, Cell], needs: Sequence[Need]
) -> dict[str, list[Cell]]:
    """Return the cells by study that are needed and not there."""
    wanted: dict[SettingKey, int] = {}
    for need in needs:
        for setting in need.settings:
            wanted[setting] = max(wanted.get(setting, 0), need.repeats)
    there = {name: {cell.key for cell in cells} for name, cells in done.items()}
    further: dict[str, list[Cell]] = {}
    for setting, cell in settings.items() if wanted else ():
        cells = cell.repeats(range(wanted.get(setting, 0)))
        if new := [repeat for repeat in cells if repeat.key not in there[setting.study]]:
            further.setdefault(setting.study, []).extend(new)
    return further
