"""Thrifty pairs: a private naive Bayes classifier on the counts of a few pairs of nominal columns. Ours.

Naive Bayes takes the columns to be independent within a class. Where a table has many records for each two categories
and class, it can afford to count two columns together, and so to see what only both of them say. Pairs that share no
column say most: two that share one would count its evidence twice.

Its constants were chosen by mean accuracy on six sets of nominal columns that ``conf/tuning.yaml`` lists under
``chosen_on``, and on made-up rows of a display of lights, epsilon from 0.1 to 5, with seeds from 1000. On average over
all of them, four pairs are 0.2 points ahead of three, 1.3 of six that may share columns, and 1.9 of as many pairs as
there are; single sets differ by up to 16 points where there is little to spend. Against single columns
(`thrifty_bayes`) four pairs gain 5 points on Mushroom, from epsilon = 0.5 on 2 on Car and, from 1 on, 1 on Marketing,
and nothing on Nursery; they lose with little to spend, on LED Display, and where there are many columns (60 on Splice).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent
from algorithms.base import ClassifierByShares, SpendsEpsilon
from algorithms.bayes.thrifty_bayes import BayesPlan, combine_sizes, log_ratios
from algorithms.encoding.bins import count_by_class
from algorithms.mechanisms import laplace_vector, permute_and_flip
from algorithms.parameters import ParameterError, check_count, parameter, with_parameters
from algorithms.released.document import Origin
from algorithms.released.naive_bayes import (
    ReleasedPairBayes,
    code_pairs,
    compute_posterior,
    count_pair_codes,
    split_columns,
)

CHOICE_SHARE = 0.1
"""Of epsilon: the choice of pairs, where there is one."""

Pair = tuple[int, int]


def plan_pairs(epsilon: float, n_columns: int, max_pairs: int) -> BayesPlan:
    """Divide epsilon evenly over the pairs that are counted; where there are others, their choice is paid for first.

    Parameters
    ----------
    epsilon : float
        Budget, in (0, inf].
    n_columns : int
        Nominal columns, at least 1.
    max_pairs : int
        Pairs that are counted at most.

    Examples
    --------
    >>> plan_pairs(1.0, 2, 4)
    BayesPlan(n_counted=1, choice_epsilon=0.0, count_epsilon=1.0)
    >>> plan_pairs(2.0, 8, 2)
    BayesPlan(n_counted=2, choice_epsilon=0.1, count_epsilon=0.9)
    """
    n_counted = min(max_pairs, max(n_columns // 2, 1))
    if n_columns <= 2:
        return BayesPlan(n_counted, 0.0, epsilon)
    return BayesPlan(n_counted, CHOICE_SHARE * epsilon / n_counted, (1 - CHOICE_SHARE) * epsilon / n_counted)


def list_pairs(columns: list[int]) -> list[Pair]:
    """Return all pairs of some columns; a single one is paired with itself.

    Examples
    --------
    >>> list_pairs([0, 2, 3]), list_pairs([4])
    ([(0, 2), (0, 3), (2, 3)], [(4, 4)])
    """
    return list(combinations(columns, 2)) or [(columns[0], columns[0])]


def score_pair(table: np.ndarray) -> float:
    """Return how many records the largest class of each code of a pair would get right."""
    return float(table.max(axis=1).sum())


def choose_pairs(scores: Mapping[Pair, float], plan: BayesPlan, rng) -> list[Pair]:
    """Choose disjoint pairs, one after the other, by permute-and-flip.

    A record added raises the largest count of one code of a pair by 0 or 1: scores are monotone, with sensitivity 1.
    Which pairs are left follows from those that were chosen.

    Parameters
    ----------
    scores : mapping of pairs to numbers
        What `score_pair` says of each.
    plan : BayesPlan
        How many to choose, of which there are as many disjoint ones, and what each choice may cost.
    rng : numpy.random.Generator
        Source of randomness.
    """
    if not plan.choice_epsilon:
        return list(scores)
    chosen: list[Pair] = []
    for _ in range(plan.n_counted):
        used = {column for pair in chosen for column in pair}
        left = [pair for pair in scores if used.isdisjoint(pair)]
        quality = np.array([scores[pair] for pair in left])
        chosen.append(left[permute_and_flip(quality, 1.0, plan.choice_epsilon, rng, True)])
    return chosen


@with_parameters
class ThriftyPairsClassifier(SpendsEpsilon, ClassifierByShares):
    """Differentially private naive Bayes on the counts of disjoint pairs of nominal columns, chosen with noise.

    Columns of numbers are not looked at: a domain has to have a nominal one.

    Parameters
    ----------
    epsilon : float
        Budget, from 1e-100 to 1e100; inf is the noise-free model.
    max_pairs : int
        Pairs that are counted at most, at least 1; never more than half of the nominal columns, rounded down, or one.

    Attributes
    ----------
    pairs_ : int64 array of shape (m, 2)
        Columns that were counted together. A single nominal column is paired with itself.
    log_sizes_ : float64 array of shape (c,)
        Logarithm of the noisy size of each class.
    log_ratios_ : list of m float64 arrays of shape (v, c)
        What each of the v codes of a pair, one for each two categories, adds to the logarithm for each class.

    Raises
    ------
    ParameterError
        Where no column of the domain is nominal.

    Notes
    -----
    If there are more pairs than are counted, permute-and-flip chooses one after the other among those that share no
    column with the chosen ones, each by how many records the largest class of each of its codes gets right; all choices
    together cost a tenth of epsilon. The rest is divided evenly over the counts of the chosen pairs, as Laplace noise
    on each cell. How many pairs there are follows from the declared columns and ``max_pairs``. All that follows reads
    no row, and is that of `ThriftyBayesClassifier`, with pairs for columns.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. m choices by
    monotone scores of sensitivity 1 cost e each; the counts of each of m pairs, of which a record moves one by 1, cost
    d; and m e + m d = epsilon, where e is 0 without choices. All three are fixed before any row is seen.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "yes", "yes", "no"] * 25
    >>> model = ThriftyPairsClassifier(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[0, 1], [1, 1]])
    array(['yes', 'no'], dtype='<U3')
    >>> model.privacy_.keeps_claim, model.privacy_.accounted_epsilon
    (True, 1.0)
    """

    draws_only_noise = True
    reads_numbers = False
    max_pairs: int = parameter(4, check_count)

    def fit(self, X, y):
        """Choose pairs, count them by class y, turn the noisy counts into ratios, and return the classifier.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        matrix, labels = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        nominal, _ = split_columns(self.domain_)
        if not nominal:
            raise ParameterError(
                "ThriftyPairsClassifier leaves numbers out, and needs a nominal column: this domain has none"
            )
        plan, rng = plan_pairs(float(self.epsilon), len(nominal), self.max_pairs), self.generator(self.seed())
        scores = {pair: score_pair(self._count_pair(matrix, labels, pair)) for pair in list_pairs(nominal)}
        chosen = choose_pairs(scores, plan, rng)
        noisy = [self._add_noise(self._count_pair(matrix, labels, pair), plan, rng) for pair in chosen]
        self.pairs_ = np.array(chosen, dtype=np.int64)
        self.log_sizes_ = np.log(combine_sizes(noisy))
        self.log_ratios_ = [log_ratios(table, 1 / plan.count_epsilon) for table in noisy]
        self.privacy_ = self.account(self.epsilon, self._ledger(plan))
        return self

    def _count_pair(self, matrix: np.ndarray, labels: np.ndarray, pair: Pair) -> np.ndarray:
        """Count the records of each code of a pair in each class: int64 array of shape (v, c)."""
        codes = code_pairs(matrix, self.domain_, [pair])[:, 0]
        return count_by_class(codes, labels, count_pair_codes(self.domain_, pair), len(self.classes_))

    def _add_noise(self, table: np.ndarray, plan: BayesPlan, rng) -> np.ndarray:
        return laplace_vector(table.ravel(), 1.0, plan.count_epsilon, rng).reshape(table.shape)

    def _ledger(self, plan: BayesPlan) -> Event:
        counted = Spent("laplace", "counts by two categories and class", plan.count_epsilon, 1.0)
        counts = Sequential("pair", (counted,), times=plan.n_counted)
        if not plan.choice_epsilon:
            return counts
        chosen = Spent("permute_and_flip, monotone", "which pair is counted", plan.choice_epsilon, 1.0)
        return Sequential("model", (Sequential("choice", (chosen,), times=plan.n_counted), counts))

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior of each class, as naive Bayes has it: float64 array of shape (n, c)."""
        return self.share_rows(self.read_rows(X))

    def share_rows(self, matrix: np.ndarray) -> np.ndarray:
        """Return the same of rows that are encoded: float64 array of shape (n, k)."""
        return compute_posterior(self.log_sizes_, self.log_ratios_, code_pairs(matrix, self.domain_, self.pairs_))

    def _released(self, origin: Origin) -> ReleasedPairBayes:
        ratios = tuple(table.copy() for table in self.log_ratios_)
        return ReleasedPairBayes(origin, self.classes_.copy(), self.pairs_.copy(), self.log_sizes_.copy(), ratios)
