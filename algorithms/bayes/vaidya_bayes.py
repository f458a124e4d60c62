"""Naive Bayes with noise on what it is made of: counts of categories, means and deviations of numbers.

Vaidya, Shafiq, Basu & Hong (2013). Their text is not at hand here: what follows is what later work tells of it, and
where that leaves a choice there is a parameter, or a sentence in the notes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Parallel, Sequential, Spent, Unpaid
from algorithms.accounting.faults import Fault
from algorithms.base import ClassifierByShares, PaperOrSound
from algorithms.encoding.bins import count_by_class
from algorithms.encoding.rows import Rows
from algorithms.mechanisms import laplace, laplace_vector
from algorithms.parameters import check_choice, parameter, with_parameters
from algorithms.released.document import Origin
from algorithms.released.naive_bayes import (
    LEAST_DEVIATION,
    ReleasedNormalBayes,
    compute_normal_posterior,
    scale_numbers,
    split_columns,
)

GRID = 2.0**20
"""Numbers from -1 to 1 are added up in multiples of 1 / GRID: exactly, so that their order changes no digit."""

LEAST_SHARE = 1e-3
"""Of an even share of the categories of a column: no category that a class lacks rules the class out."""

SENSITIVITY_FROM_ROWS = Fault(
    "sensitivity from the rows",
    "the noise of a mean and of a deviation is scaled by the exact number of records of the class",
    "Vaidya et al. (2013), sensitivities of numeric attributes, as later work tells it",
)
BUDGET_SPENT_TWICE = Fault(
    "budget spent more than once",
    "each table of counts, each mean and each deviation spends the whole ε",
    "the reading budget='each' of Vaidya et al. (2013)",
)


class BayesSums(NamedTuple):
    """What naive Bayes knows of the rows, for c classes."""

    sizes: np.ndarray  #: int64 (c,): records of each class
    counts: list[np.ndarray]  #: int64 (v, c) for each nominal column: records of each category and class
    sums: np.ndarray  #: float64 (m, c): sums of the m continuous columns, scaled to [-1, 1]
    squares: np.ndarray  #: float64 (m, c): sums of their squares


def normalise_counts(noisy: np.ndarray) -> np.ndarray:
    """Return the logarithms of the shares of categories within each class: float64 arrays of shape (v, c).

    Counts below 0 are 0; no share is below `LEAST_SHARE` of an even one, and without counts all are even.

    Examples
    --------
    >>> np.exp(normalise_counts(np.array([[6.0, -3.0], [2.0, 2.0]]))).round(4)
    array([[7.5e-01, 5.0e-04],
           [2.5e-01, 1.0e+00]])
    """
    counts, even = np.maximum(noisy, 0.0), 1.0 / len(noisy)
    totals = counts.sum(axis=0)
    shares = np.divide(counts, totals, out=np.full(counts.shape, even), where=totals > 0)
    return np.log(np.maximum(shares, LEAST_SHARE * even))


def find_moments(sizes: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of columns in each class: float64 arrays of shape (m, c).

    Sizes below 1 are 1; means outside [-1, 1] are at its ends, variances below 0 are 0.

    Examples
    --------
    >>> means, deviations = find_moments(np.array([4.0]), np.array([[2.0]]), np.array([[2.0]]))
    >>> means.tolist(), deviations.tolist()
    ([[0.5]], [[0.5]])
    """
    sizes = np.maximum(sizes, 1.0)
    means = np.clip(sums / sizes, -1.0, 1.0)
    return means, np.sqrt(np.clip(squares / sizes - means**2, 0.0, 1.0))


@with_parameters
class VaidyaBayesClassifier(PaperOrSound, ClassifierByShares):
    """Naive Bayes with Laplace noise on counts of categories, and on means and deviations of numbers.

    Parameters
    ----------
    budget : {"divided", "each"}
        Reading of what an answer may spend: "divided" divides epsilon evenly over all of them, "each" gives epsilon to
        each. Answers are the sizes of the classes, the counts of each nominal column, and two of each continuous one.

    Attributes
    ----------
    log_sizes_ : float64 array of shape (c,)
        Logarithm of the noisy size of each class.
    log_shares_ : list of float64 arrays of shape (v, c)
        Of each nominal column: logarithm of the share of each of its v categories within each class.
    means_, deviations_ : float64 arrays of shape (m, c)
        Of the m continuous columns, scaled to [-1, 1] by their bounds, within each class.

    Notes
    -----
    A class is predicted for the largest product of its size, the shares of the row's categories, and the densities of
    its numbers under normal distributions. Sizes of at least 1 record, shares of at least 0.001 of an even one, and
    deviations of at least 0.001 (of a range of 2) keep that defined; they read no row.

    With n records of a class, a mean is told the sensitivity 2 / (n + 1), and a standard deviation 2 √n / (n + 1):
    what one more record changes at most.

    Privacy: variant "paper" is **not** differentially private where a column is continuous; ``privacy_`` says so. Its
    sensitivities are those of the table at hand: a record less moves a mean of two records by 1, and the noise is for
    2/3; and two neighbouring tables have noise of different scales, whose densities have a ratio that no constant
    bounds. Where all columns are nominal it is epsilon-differentially private: a record is in one cell of the
    sizes and in one of the counts of each column.

    Variant "sound" is, with pure epsilon, for one record added or removed, given a public domain. Of a continuous
    column it releases for each class, in place of mean and deviation, the sum of its numbers in [-1, 1] and that of
    their squares: a record moves one of the c sums by at most 1, whatever the rows. Means and deviations follow from
    these and from the noisy sizes. Each of the 1 + k + 2 m answers about k nominal and m continuous columns costs its
    even share of epsilon.

    Source: Vaidya, Shafiq, Basu & Hong (2013), Differentially private naive Bayes classification.

    Examples
    --------
    >>> from algorithms import Continuous, Domain, Nominal
    >>> domain = Domain((Continuous("x", 0, 1), Nominal("a", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0.1, 0], [0.3, 1], [0.7, 0], [0.9, 1]] * 100, ["no", "no", "yes", "yes"] * 100
    >>> model = VaidyaBayesClassifier(2.0, variant="sound", domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[0.2, 1], [0.8, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.privacy_.keeps_claim, model.privacy_.accounted_epsilon
    (True, 2.0)
    """

    draws_only_noise = True
    budget: str = parameter("divided", check_choice, choices=("divided", "each"), is_reading=True)

    def fit(self, X, y):
        """Count and add up within each class y, with noise, and return the classifier.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        rows = self.training_rows(X, y)
        self.check_parameters(len(rows.features) - 1)
        exact = self._add_up(rows)
        n_answers = 1 + len(exact.counts) + 2 * len(exact.sums)
        share = float(self.epsilon) / (n_answers if self.budget == "divided" else 1)
        rng = self.generator(self.seed())
        sizes = laplace_vector(exact.sizes, 1.0, share, rng)
        self.log_sizes_ = np.log(np.maximum(sizes, 1.0))
        noisy = [laplace_vector(table.ravel(), 1.0, share, rng).reshape(table.shape) for table in exact.counts]
        self.log_shares_ = [normalise_counts(table) for table in noisy]
        if self.variant == "sound":
            sums, squares = (
                np.reshape([laplace_vector(row, 1.0, share, rng) for row in rows_of], rows_of.shape)
                for rows_of in (exact.sums, exact.squares)
            )
            means, deviations = find_moments(sizes, sums, squares)
        else:
            means, deviations = self._disturb_moments(exact, share, rng)
        self.means_, self.deviations_ = means, np.maximum(deviations, LEAST_DEVIATION)
        self.privacy_ = self.account(self.epsilon, self._ledger(exact, share), self._faults(exact))
        return self

    def _add_up(self, rows: Rows) -> BayesSums:
        """Count records and add up numbers within each class; rows are read a block at a time."""
        n_classes, features = len(self.classes_), self.domain_.features
        nominal, continuous = split_columns(self.domain_)
        counts = [np.zeros((len(features[j].categories), n_classes), dtype=np.int64) for j in nominal]
        sizes, sums = np.zeros(n_classes, dtype=np.int64), np.zeros((2, len(continuous), n_classes))
        for block in rows.blocks():
            matrix, labels = self.split_target(block)
            sizes += np.bincount(labels, minlength=n_classes)
            for table, j in zip(counts, nominal, strict=True):
                table += count_by_class(matrix[:, j].astype(np.int64), labels, len(table), n_classes)
            scaled = scale_numbers(matrix, self.domain_)
            for i in range(len(continuous)):
                for power in (1, 2):
                    numbers = np.round(scaled[:, i] ** power * GRID)
                    sums[power - 1, i] += np.bincount(labels, numbers, minlength=n_classes)
        self._note_clipped(rows.clipped)
        return BayesSums(sizes, counts, *(sums / GRID))

    def _disturb_moments(self, exact: BayesSums, share: float, rng) -> tuple[np.ndarray, np.ndarray]:
        """Return means and deviations with noise for the sensitivities that are printed, of the rows at hand."""
        means, deviations = find_moments(exact.sizes, exact.sums, exact.squares)
        for i, c in np.ndindex(means.shape):
            of_mean, of_deviation = _find_printed_sensitivities(int(exact.sizes[c]))
            means[i, c] = laplace(means[i, c], of_mean, share, rng)
            deviations[i, c] = laplace(deviations[i, c], of_deviation, share, rng)
        return means, deviations

    def _ledger(self, exact: BayesSums, share: float) -> Event:
        sizes = Spent("laplace", "sizes of the classes", share, 1.0)
        counts = Spent("laplace", "counts by category and class", share, 1.0)
        answers: list[Event] = [sizes, Sequential("nominal column", (counts,), times=len(exact.counts))]
        n_continuous = len(exact.sums)
        if self.variant == "sound":
            sums = tuple(Spent("laplace", f"sums of {what} by class", share, 1.0) for what in ("numbers", "squares"))
            answers.append(Sequential("continuous column", sums, times=n_continuous))
        elif n_continuous:
            told = [_find_printed_sensitivities(int(size)) for size in exact.sizes]
            classes = [
                Sequential(
                    "continuous column",
                    (Spent("laplace", "mean", share, of_mean), Spent("laplace", "deviation", share, of_deviation)),
                    times=n_continuous,
                )
                for of_mean, of_deviation in told
            ]
            answers += [Parallel("class", tuple(classes)), Unpaid("sizes of the classes, which scale noise")]
        return Sequential("model", tuple(answers))

    def _faults(self, exact: BayesSums) -> tuple[Fault, ...]:
        faults = {
            SENSITIVITY_FROM_ROWS: self.variant == "paper" and len(exact.sums) > 0,
            BUDGET_SPENT_TWICE: self.budget == "each",
        }
        return tuple(fault for fault, is_there in faults.items() if is_there)

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior of each class, as naive Bayes has it: float64 array of shape (n, c)."""
        matrix = self.read_rows(X)
        return compute_normal_posterior(
            self.domain_, self.log_sizes_, self.log_shares_, self.means_, self.deviations_, matrix
        )

    def _released(self, origin: Origin) -> ReleasedNormalBayes:
        shares = tuple(table.copy() for table in self.log_shares_)
        return ReleasedNormalBayes(
            origin, self.classes_.copy(), self.log_sizes_.copy(), shares, self.means_.copy(), self.deviations_.copy()
        )


def _find_printed_sensitivities(n: int) -> tuple[float, float]:
    """Return the printed sensitivities of the mean and of the deviation of n numbers in a range of 2."""
    return 2 / (n + 1), 2 * math.sqrt(max(n, 1)) / (n + 1)
