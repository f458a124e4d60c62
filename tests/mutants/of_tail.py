"""Mutants of thrifty for numbers, which looks for a tail first."""

from __future__ import annotations

from tests.mutants import ACCOUNT, BOUNDS, BUDGET, EXACT, SENSITIVITY, SHARED, Mutant
from tests.mutants import algorithms as of

TAIL = "algorithms/combined/thrifty_regressor.py"

MUTANTS = [
    Mutant(
        "tail: a histogram without noise",
        EXACT,
        TAIL,
        "laplace_vector(counts, 1.0, paid, self.generator(seed))",
        "counts.astype(np.float64)",
        "Whether there is a tail, and its means, follow from exact counts.",
        of.TAIL,
    ),
    Mutant(
        "tail: a histogram told 0.5",
        SENSITIVITY,
        TAIL,
        "laplace_vector(counts, 1.0, paid,",
        "laplace_vector(counts, 0.5, paid,",
        "The histogram costs twice its epsilon.",
        of.TAIL,
    ),
    Mutant(
        "tail: the forest has the whole budget",
        BUDGET,
        TAIL,
        "return Budgets(histogram, sides, epsilon - histogram - sides)",
        "return Budgets(histogram, sides, epsilon)",
        "The parts together spend more than there is.",
        of.TAIL,
    ),
    Mutant(
        "tail: bins between the ends of the rows",
        BOUNDS,
        TAIL,
        "np.bincount(find_bins(target), minlength=N_BINS)",
        "np.bincount(find_bins((target - target.min()) / max(np.ptp(target), 0.1)), minlength=N_BINS)",
        "A record with the smallest target moves all others to other bins.",
        of.TAIL,
    ),
    Mutant(
        "tail: residuals between the ends of the rows",
        BOUNDS,
        TAIL,
        "domain = domain_of_rest(domain, self.tail_.means)",
        "domain = domain_of_rest(domain, np.array([0.9 - target.max(), 0.1 - target.min()]))",
        "The forest is told bounds that the rows have.",
        of.TAIL,
    ),
    Mutant(
        "tail: both forests draw the same noise",
        SHARED,
        TAIL,
        "seeds[2], matrix, target)",
        "seeds[1], matrix, target)",
        "The noise of one forest tells that of the other.",
        of.TAIL,
    ),
    Mutant(
        "tail: the account has no histogram",
        ACCOUNT,
        TAIL,
        "budgets.histogram, 1.0), *parts))",
        "budgets.histogram, 1.0), *parts)[1:])",
        "The ledger says less than was spent.",
        of.TAIL,
    ),
]
