"""What released rows tell of the training rows: re-linking, membership, and the interval of Agrawal and Srikant.

Each is the success of one attack, a lower bound of what leaks; only an accounted epsilon is an upper one. Distances are
Euclidean, so attributes are to be put into units in which the noise is as large in all of them: `measure_leakage` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import norm, rankdata

from algorithms.data_replacement.sampler import Sampler, number_categories
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal

LEAKS = ("membership_auc", "membership_advantage", "relinked", "interval_50", "interval_95")
"""Metrics of a release; the last three are of noisy copies only."""

_ROUNDING = 1e-12  # two ways to compute the same distance differ by this share of it


def measure_relinking(original: np.ndarray, released: np.ndarray, sources: np.ndarray) -> float:
    """Share of released rows for which no training row is nearer than the one that they were drawn from.

    Parameters
    ----------
    original : float64 array of shape (n, k)
        Training rows.
    released : float64 array of shape (m, k)
        Released rows.
    sources : int array of shape (m,)
        Position of the training row behind each, a sampler's ``sample_indices_``.

    Notes
    -----
    A training row of the same values as the source is as good: who finds it knows all that was to be hidden.

    Examples
    --------
    >>> measure_relinking(np.array([[0.0], [1.0]]), np.array([[0.2], [0.4], [0.9], [0.7]]), np.array([0, 0, 0, 1]))
    0.75
    """
    nearest, _ = cKDTree(original).query(released)
    own = np.linalg.norm(released - original[sources], axis=1)
    return float(np.mean(own <= nearest * (1 + _ROUNDING)))


def score_nearness(
    rows: np.ndarray, labels: np.ndarray, released: np.ndarray, released_labels: np.ndarray
) -> np.ndarray:
    """Score rows by how near the nearest released row of their class is: minus its distance.

    Parameters
    ----------
    rows : float64 array of shape (n, k)
        Rows that may have been training rows.
    labels : array of shape (n,)
        Their classes.
    released : float64 array of shape (m, k)
        Released rows.
    released_labels : array of shape (m,)
        Their classes.

    Returns
    -------
    float64 array of shape (n,)
        Minus infinity for a class of which nothing was released.

    Examples
    --------
    >>> score_nearness(np.array([[0.0], [0.0]]), np.array(["a", "b"]), np.array([[0.5], [2.0]]), np.array(["b", "a"]))
    array([-2. , -0.5])
    """
    scores = np.full(len(rows), -np.inf)
    for label in np.unique(released_labels):
        of_class = labels == label
        scores[of_class] = -cKDTree(released[released_labels == label]).query(rows[of_class])[0]
    return scores


@dataclass(frozen=True)
class Membership:
    """How well a score tells training rows from others.

    Parameters
    ----------
    auc : float
        Probability that a training row has the higher score, of one of each drawn at random; 0.5 is guessing.
    advantage : float
        True less false positive rate of the best threshold (Yeom et al., 2018), chosen on one half of the rows and
        measured on the other, in turns: chosen and measured on the same rows it would be above 0 for any score.
    """

    auc: float
    advantage: float


def attack_membership(inside: np.ndarray, outside: np.ndarray) -> Membership:
    """Tell training rows from others by their scores.

    Parameters
    ----------
    inside : array of shape (m,)
        Scores of training rows, at least 2.
    outside : array of shape (n,)
        Scores of other rows of the same distribution, at least 2.

    Examples
    --------
    >>> attack_membership(np.array([3.0, 4.0, 5.0, 6.0]), np.array([1.0, 2.0, 0.0, 3.5]))
    Membership(auc=0.9375, advantage=0.5)
    """
    even, odd = (inside[::2], outside[::2]), (inside[1::2], outside[1::2])
    advantages = [
        _measure_advantage(*odd, _best_threshold(*even)),
        _measure_advantage(*even, _best_threshold(*odd)),
    ]
    return Membership(_measure_auc(inside, outside), float(np.mean(advantages)))


def _measure_auc(inside: np.ndarray, outside: np.ndarray) -> float:
    # not scikit-learn's: it refuses scores of minus infinity, and its sums end in other digits
    ranks = rankdata(np.concatenate([inside, outside]))
    beaten = (ranks[: len(inside)] - rankdata(inside)) / len(outside)  # share of the others that each is above
    return float(beaten.mean())


def _best_threshold(inside: np.ndarray, outside: np.ndarray) -> float:
    candidates = np.unique(np.concatenate([inside, outside]))
    above_inside = 1 - np.searchsorted(np.sort(inside), candidates) / len(inside)
    above_outside = 1 - np.searchsorted(np.sort(outside), candidates) / len(outside)
    return candidates[np.argmax(above_inside - above_outside)]


def _measure_advantage(inside: np.ndarray, outside: np.ndarray, threshold: float) -> float:
    return float(np.mean(inside >= threshold) - np.mean(outside >= threshold))


def interval_width(sigma: float, confidence: float = 0.5) -> float:
    """Width of the interval around a value with Gaussian noise that holds the original with a confidence.

    It is Agrawal and Srikant's measure of privacy. It knows nothing of the distribution of the originals, of other
    attributes, or that a category is a whole number: an attack that does is left a narrower interval.

    Examples
    --------
    >>> round(interval_width(1.0), 3), round(interval_width(1.0, 0.95), 2)
    (1.349, 3.92)
    """
    return float(2 * sigma * norm.ppf((1 + confidence) / 2))


def attribute_ranges(domain: Domain) -> np.ndarray:
    """Length of the declared range of each attribute, categories being numbers from 1.

    Examples
    --------
    >>> from algorithms import Nominal
    >>> attribute_ranges(Domain((Continuous("age", 17, 90), Nominal("safety", ("low", "med", "high")))))
    array([73.,  2.])
    """
    return np.array([_measure_range(feature) for feature in domain.features], dtype=np.float64)


def _measure_range(feature: Continuous | Nominal) -> float:
    return feature.upper - feature.lower if isinstance(feature, Continuous) else len(feature.categories) - 1


def measure_width(
    original: np.ndarray, released: np.ndarray, sources: np.ndarray, confidence: float = 0.5
) -> np.ndarray:
    """Width of that interval for each attribute, from the differences of released rows to their sources.

    Examples
    --------
    >>> released = np.random.default_rng(0).standard_normal((100_000, 2)) * [1, 5]
    >>> measure_width(np.zeros((1, 2)), released, np.zeros(100_000, dtype=int)).round(1)
    array([1.4, 6.8])
    """
    ends = np.quantile(released - original[sources], [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return ends[1] - ends[0]


def measure_leakage(sampler: Sampler, training: tuple, others: tuple) -> dict[str, float]:
    """Measure what a sampler's release tells of its training rows.

    Parameters
    ----------
    sampler : Sampler
        With a domain; it is fitted.
    training, others : tuple of (DataFrame or array of shape (n, k), array of shape (n,))
        Rows and class labels: those that are replaced, and others of the same distribution.

    Returns
    -------
    dict
        ``membership_auc`` and ``membership_advantage`` of the scores of `score_nearness`. Of noisy copies also
        ``relinked``, and ``interval_50`` and ``interval_95``: width of the interval that holds the original value with
        50 and 95 %, as a share of the attribute's declared range, at most 1, and the mean over attributes.

    Notes
    -----
    An attribute's unit is that of the sampler's noise, else its standard deviation in the released rows. Rows are told
    apart within each class, and the classes weighted by their training rows: the score depends on how dense a class is,
    so that other shares of the classes would pass for a leak.

    Examples
    --------
    >>> import datasets
    >>> from algorithms import AdditiveGaussianNoise
    >>> car = datasets.load("car")
    >>> halves = [(car.frame.iloc[i::2], car.target.to_numpy()[i::2]) for i in (0, 1)]
    >>> leaks = measure_leakage(AdditiveGaussianNoise(0.0, domain=car.domain), *halves)
    >>> leaks["relinked"], leaks["membership_auc"], leaks["interval_50"]
    (1.0, 1.0, 0.0)
    """
    released, released_labels = sampler.fit_resample(*training)
    released, domain = np.asarray(released), sampler.domain_
    unit = getattr(sampler, "scale_", released.std(axis=0))
    unit = np.where(unit > 0, unit, 1.0)
    (inside, labels), (outside, other_labels) = _number_rows(training, domain), _number_rows(others, domain)
    scores = score_nearness(inside / unit, labels, released / unit, released_labels)
    other_scores = score_nearness(outside / unit, other_labels, released / unit, released_labels)
    metrics = _attack_within_classes(scores, other_scores, labels, other_labels)
    if not hasattr(sampler, "sample_indices_"):
        return metrics
    sources, ranges = sampler.sample_indices_, attribute_ranges(domain)
    metrics["relinked"] = measure_relinking(inside / unit, released / unit, sources)
    for confidence in (0.5, 0.95):
        widths = measure_width(inside, released, sources, confidence)[ranges > 0] / ranges[ranges > 0]
        metrics[f"interval_{confidence:.0%}".rstrip("%")] = float(np.minimum(widths, 1.0).mean())
    return metrics


def _number_rows(side: tuple, domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of one side with categories as numbers from 1, and their labels."""
    X, labels = side
    codes, _ = domain.encode(X)
    return number_categories(codes, domain), np.asarray(labels)


def _attack_within_classes(
    inside: np.ndarray, outside: np.ndarray, labels: np.ndarray, other_labels: np.ndarray
) -> dict[str, float]:
    """Return the membership metrics of scores; classes with fewer than 2 rows on a side are left out."""
    aucs, advantages, weights = [], [], []
    for label in np.unique(labels):
        sides = inside[labels == label], outside[other_labels == label]
        if min(map(len, sides)) >= 2:
            attack = attack_membership(*sides)
            aucs.append(attack.auc)
            advantages.append(attack.advantage)
            weights.append(len(sides[0]))
    if not weights:
        return {"membership_auc": math.nan, "membership_advantage": math.nan}
    return {
        "membership_auc": float(np.average(aucs, weights=weights)),
        "membership_advantage": float(np.average(advantages, weights=weights)),
    }
