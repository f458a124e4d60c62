"""The page of all algorithms: what became of each in the papers that run it, its ranks in the benchmarks, its audit.

A section is a file of ``conf/algorithm``, with all its variants that a published run has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from experiments.audit.of_runs import NO_AUDIT, select_counting
from experiments.catalogue.algorithms import AlgorithmEntry, read_algorithm
from experiments.catalogue.kinds import KINDS
from experiments.catalogue.places import Place, find_class
from experiments.comparisons.comparison import select_means
from experiments.config.finding import AnySign
from experiments.config.kinds.exhibits import RanksFigure
from experiments.config.paper import Speaker
from experiments.store.long_table import is_claim_only
from plots.audits import format_account, list_bounds
from plots.exhibits.compared import format_rank
from plots.runs.paper_run import PaperRun


class Use(NamedTuple):
    """A run that has some variants of an algorithm."""

    run: PaperRun
    is_own: bool  #: whether the paper proposes it; else it is compared with it
    claims: Sequence[tuple[AnySign, str]]  #: of the paper, that runs of it decide: sign and id


class Ranked(NamedTuple):
    """The place of a variant among the algorithms that a figure ranks."""

    algorithm: str
    run: PaperRun
    title: str
    place: int
    of: int
    mean: str


@dataclass(frozen=True)
class VariantRow:
    """A variant of an algorithm, as published runs have it."""

    name: str
    kind: str
    what: str
    accounted: str = ""  #: nothing of one that has no account
    n_faults: int = 0
    faults_in: str = ""  #: the folder of the run whose page has its faults
    audit: str = NO_AUDIT  #: the verdict of attacks on it, with its reason


@dataclass
class AlgorithmSection:
    """An algorithm: a file of ``conf/algorithm``."""

    name: str
    whose: str
    code: Place | None
    variants: dict[str, VariantRow] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    ranks: list[Ranked] = field(default_factory=list)

    @property
    def is_audited(self) -> bool:
        """Whether somebody attacked it as it is without a variant."""
        return self.name in self.variants and self.variants[self.name].audit != NO_AUDIT


def list_sections(runs: Sequence[PaperRun]) -> list[AlgorithmSection]:
    """Return a section for each algorithm of some runs, by its kind, as the catalogue lists kinds, and its name."""
    sections: dict[str, AlgorithmSection] = {}
    for run in runs:
        names = dict.fromkeys(name for study in run.paper.studies.values() for name in study.algorithm)
        by_file: dict[str, list[str]] = {}
        for name in names:
            by_file.setdefault(_name_file(name), []).append(name)
        for file, variants in by_file.items():
            section = sections.setdefault(file, _begin_section(file, variants[0]))
            for name in variants:
                if name not in section.variants or not section.variants[name].accounted:
                    section.variants[name] = _describe_variant(run, name)
            section.uses.append(_describe_use(run, variants))
    for rank in (rank for run in runs for rank in _list_ranks(run)):
        sections[_name_file(rank.algorithm)].ranks.append(rank)
    kinds = list(KINDS)
    return sorted(
        sections.values(), key=lambda one: (min(kinds.index(row.kind) for row in one.variants.values()), one.name)
    )


@cache
def _read(algorithm: str) -> AlgorithmEntry:
    """Return what the catalogue knows of an algorithm, once: many runs have it."""
    return read_algorithm(algorithm)


def _name_file(algorithm: str) -> str:
    return _read(algorithm).name.partition(":")[0]


def _begin_section(file: str, algorithm: str) -> AlgorithmSection:
    return AlgorithmSection(file, _read(algorithm).whose, find_class(algorithm))


def _describe_variant(run: PaperRun, name: str) -> VariantRow:
    row = VariantRow(name, _read(name).kind, _read(name).what)
    account = next((one for one in run.privacy if one["algorithm"] == name), None)
    if account is None:
        return row
    claims = "nobody checked the ε that it claims" if is_claim_only(account) else "no ε is claimed"
    attacked = select_counting(run.audit[run.audit["algorithm"] == name])
    return replace(
        row,
        accounted=format_account(account["times_label"], attacked.to_dict("records")) or claims,
        n_faults=len(account["faults"]),
        faults_in=run.folder.name if run.is_of_paper else "",
        audit=next((bound["bound"] for bound in list_bounds(run.audit, name)), NO_AUDIT),
    )


def _describe_use(run: PaperRun, variants: Iterable[str]) -> Use:
    claims = []
    for claim in run.claims:
        is_papers = run.paper.speaker_of(run.paper.claims_by_id[claim.id]) == Speaker.PAPER
        if is_papers and not set(variants).isdisjoint(run.traces.claims[claim.id].algorithms):
            claims.append((claim.verdict.shown, claim.id))
    return Use(run, not set(variants).isdisjoint(run.paper.own), claims)


def _list_ranks(run: PaperRun) -> Iterable[Ranked]:
    for exhibit in run.paper.figures:
        if isinstance(exhibit, RanksFigure):
            means: list[Mapping[str, Any]] = select_means(run.read_frame(exhibit)).to_dict("records")
            for place, row in enumerate(means, 1):
                yield Ranked(row["algorithm"], run, exhibit.title, place, len(means), format_rank(row["rank"]))
