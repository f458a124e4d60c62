"""What released rows tell of the training rows: re-linking, membership, and the interval of Agrawal and Srikant.

Each is the success of one attack, a lower bound of what leaks; only an accounted epsilon is an upper one. Distances are
Euclidean, so attributes are to be put into units in which the noise is as large in all of them: `of_release` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import norm, rankdata

from algorithms.data_replacement.sampler import Sampler, number_categories
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous
from experiments.stats import LEVEL, Interval

LEAKS = ("membership_auc", "membership_advantage", "relinked", "interval_50", "interval_95")
"""Metrics of a release; the last three are of noisy copies only."""

_ROUNDING = 1e-12  # two ways to compute the same distance differ by this share of it


def relinking_rate(original: np.ndarray, released: np.ndarray, sources: np.ndarray) -> float:
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
    >>> relinking_rate(np.array([[0.0], [1.0]]), np.array([[0.2], [0.4], [0.9], [0.7]]), np.array([0, 0, 0, 1]))
    0.75
    """
    nearest, _ = cKDTree(original).query(released)
    own = np.linalg.norm(released - original[sources], axis=1)
    return float(np.mean(own <= nearest * (1 + _ROUNDING)))


def nearness(rows: np.ndarray, labels: np.ndarray, released: np.ndarray, released_labels: np.ndarray) -> np.ndarray:
    """Score rows by how near the nearest released row of their class is: minus its distance.

    Parameters
    ----------
    rows : float64 array of shape (n, k)
        Rows of which it is asked whether they were training rows.
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
    >>> nearness(np.array([[0.0], [0.0]]), np.array(["a", "b"]), np.array([[0.5], [2.0]]), np.array(["b", "a"]))
    array([-2. , -0.5])
    """
    scores = np.full(len(rows), -np.inf)
    for label in np.unique(released_labels):
        asked = labels == label
        scores[asked] = -cKDTree(released[released_labels == label]).query(rows[asked])[0]
    return scores


@dataclass(frozen=True)
class Membership:
    """How well a score tells training rows from others.

    Parameters
    ----------
    auc : Interval
        Probability that a training row has the higher score, of one of each drawn at random; 0.5 is guessing. With its
        95 % interval (DeLong et al., 1988), which is without width where the scores do not overlap.
    advantage : float
        True less false positive rate of the best threshold (Yeom et al., 2018), chosen on one half of the rows and
        measured on the other, in turns: chosen and measured on the same rows it would be above 0 for any score.
    """

    auc: Interval
    advantage: float


def membership(inside: np.ndarray, outside: np.ndarray) -> Membership:
    """Tell training rows from others by their scores.

    Parameters
    ----------
    inside : array of shape (m,)
        Scores of training rows, at least 2.
    outside : array of shape (n,)
        Scores of other rows of the same distribution, at least 2.

    Examples
    --------
    >>> found = membership(np.array([3.0, 4.0, 5.0, 6.0]), np.array([1.0, 2.0, 0.0, 3.5]))
    >>> found.auc.center, round(found.auc.low, 3), found.auc.high, found.advantage
    (0.9375, 0.764, 1.0, 0.5)
    """
    halves = [(inside[i::2], outside[i::2]) for i in (0, 1)]
    advantages = [_advantage(*halves[1 - i], _threshold(*halves[i])) for i in (0, 1)]
    return Membership(_auc(inside, outside), float(np.mean(advantages)))


def _auc(inside: np.ndarray, outside: np.ndarray) -> Interval:
    m, n = len(inside), len(outside)
    ranks = rankdata(np.concatenate([inside, outside]))
    beaten = (ranks[:m] - rankdata(inside)) / n  # share of the others that each training row is above
    beating = 1 - (ranks[m:] - rankdata(outside)) / m
    center = float(beaten.mean())
    half = float(norm.ppf((1 + LEVEL) / 2)) * math.sqrt(beaten.var(ddof=1) / m + beating.var(ddof=1) / n)
    return Interval(m + n, center, max(center - half, 0.0), min(center + half, 1.0))


def _threshold(inside: np.ndarray, outside: np.ndarray) -> float:
    candidates = np.unique(np.concatenate([inside, outside]))
    above = [1 - np.searchsorted(np.sort(scores), candidates) / len(scores) for scores in (inside, outside)]
    return candidates[np.argmax(above[0] - above[1])]


def _advantage(inside: np.ndarray, outside: np.ndarray, threshold: float) -> float:
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
    ends = [(f.lower, f.upper) if isinstance(f, Continuous) else (1, len(f.categories)) for f in domain.features]
    return np.array([upper - lower for lower, upper in ends], dtype=np.float64)


def measured_width(
    original: np.ndarray, released: np.ndarray, sources: np.ndarray, confidence: float = 0.5
) -> np.ndarray:
    """Width of that interval for each attribute, from the differences of released rows to their sources.

    Examples
    --------
    >>> released = np.random.default_rng(0).standard_normal((100_000, 2)) * [1, 5]
    >>> measured_width(np.zeros((1, 2)), released, np.zeros(100_000, dtype=int)).round(1)
    array([1.4, 6.8])
    """
    ends = np.quantile(released - original[sources], [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return ends[1] - ends[0]


def of_release(sampler: Sampler, training: tuple, others: tuple) -> dict[str, float]:
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
        ``membership_auc`` and ``membership_advantage`` of the score `nearness`. Of noisy copies also ``relinked``, and
        ``interval_50`` and ``interval_95``: width of the interval that holds the original value with 50 and 95 %, as a
        share of the attribute's declared range, at most 1, and the mean over attributes.

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
    >>> found = of_release(AdditiveGaussianNoise(0.0, domain=car.domain), *halves)
    >>> found["relinked"], found["membership_auc"], found["interval_50"]
    (1.0, 1.0, 0.0)
    """
    released, released_labels = sampler.fit_resample(*training)
    released, domain = np.asarray(released), sampler.domain_
    unit = getattr(sampler, "scale_", released.std(axis=0))
    unit = np.where(unit > 0, unit, 1.0)
    inside, outside = (number_categories(domain.encode(X)[0], domain) for X, _ in (training, others))
    sides = (inside, np.asarray(training[1])), (outside, np.asarray(others[1]))
    scores = [nearness(rows / unit, labels, released / unit, released_labels) for rows, labels in sides]
    metrics = _within_classes(*scores, *(labels for _, labels in sides))
    if not hasattr(sampler, "sample_indices_"):
        return metrics
    sources, ranges = sampler.sample_indices_, attribute_ranges(domain)
    metrics["relinked"] = relinking_rate(inside / unit, released / unit, sources)
    for confidence in (0.5, 0.95):
        widths = measured_width(inside, released, sources, confidence)[ranges > 0] / ranges[ranges > 0]
        metrics[f"interval_{confidence:.0%}".rstrip("%")] = float(np.minimum(widths, 1.0).mean())
    return metrics


def _within_classes(inside: np.ndarray, outside: np.ndarray, labels: np.ndarray, other_labels: np.ndarray) -> dict:
    """Return the membership metrics of scores; classes with fewer than 2 rows on a side are left out."""
    found, weights = [], []
    for label in np.unique(labels):
        sides = inside[labels == label], outside[other_labels == label]
        if min(map(len, sides)) >= 2:
            found.append(membership(*sides))
            weights.append(len(sides[0]))
    if not found:
        return {"membership_auc": math.nan, "membership_advantage": math.nan}
    return {
        "membership_auc": float(np.average([one.auc.center for one in found], weights=weights)),
        "membership_advantage": float(np.average([one.advantage for one in found], weights=weights)),
    }
