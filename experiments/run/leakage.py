"""What released rows tell of the training rows: re-linking, membership, and the interval of Agrawal and Srikant.

Each is the success of one attack, a lower bound of what leaks; only an accounted epsilon is an upper one. An average
over all rows, such as an AUC, hides a leak of few; so does one over rows that were never copied. Distances are
Euclidean, so attributes are to be put into units in which the noise is as large in all of them: `measure_leakage` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from scipy.stats import chi2, norm, rankdata

from algorithms.data_replacement.sampler import NoisyCopies, Sampler, number_categories
from algorithms.encoding.bins import bin_continuous
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal

_FALSE_POSITIVES = {"calibrated_tpr_1": 0.01, "calibrated_tpr_01": 0.001}
_N_BINS = 10  # of a continuous attribute, where marginals are compared
_CHUNK = 16  # rows whose distances to all others are in memory at a time: so few that a core's own cache holds them
_NOTHING = -700.0  # a window is nothing beside one of e to 700 times its height; the exponential of less takes long
_FAR = 1e-3  # chance that noise takes a copy farther away than where being alone means nothing
_NO_NOISE = 1e-3  # stands for the noise of copies that have none

_ROUNDING = 1e-12  # two ways to compute the same distance differ by this share of it


def measure_relinking(original: np.ndarray, released: np.ndarray, sources: np.ndarray) -> float:
    """Share of released rows for which no training row is nearer than the one that they were drawn from.

    Sources are the positions of the training rows behind the released ones, a sampler's ``sample_indices_``. A training
    row of the same values as the source is as good: who finds it knows all that was to be hidden.

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
    """Score rows that may have been training rows by how near a released row of their class is: minus the distance.

    It is minus infinity for a class of which nothing was released.

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


def score_copies(
    rows: np.ndarray, labels: np.ndarray, released: np.ndarray, released_labels: np.ndarray, noise: float
) -> np.ndarray:
    """Score rows by how much likelier the released rows are if noisy copies of the row are among them.

    The logarithm of the sum, over the released rows r of its class, of N(r; x, σ²) / p(r): to first order the logarithm
    of the likelihood ratio (Neyman and Pearson). p is the density of the other released rows at r, seen through a
    window of √2 σ, which is how far two copies of one row lie apart. Dividing by it is the calibration: a released row
    where many others are is no sign of any row. Nor is one that is alone a sign of a row so far away that noise takes a
    copy there once in a thousand times: the density has that of such a copy added.

    The noise is its standard deviation σ, above 0, in the unit of the rows, in which it is as large in all attributes.
    A class of which at most one row was released has a score of minus infinity.

    Examples
    --------
    >>> near, lonely, crowd = [[0.0], [0.2], [0.1]], [[5.0]], np.array([[0.0], [0.1], [0.2], [5.1]])
    >>> scores = score_copies(np.array(near + lonely), np.zeros(4), crowd, np.zeros(4), 0.5)
    >>> int(scores.argmax())
    3
    """
    scores = np.full(len(rows), -np.inf)
    for label in np.unique(released_labels):
        own = released[released_labels == label]
        if len(own) > 1:
            density = _sum_windows(own, own, math.sqrt(2) * noise, leave_out_itself=True)
            density = np.logaddexp(density, -chi2.ppf(1 - _FAR, rows.shape[1]) / 2)
            scores[labels == label] = _sum_windows(rows[labels == label], own, noise, -density)
    return scores


def _sum_windows(
    points: np.ndarray,
    centers: np.ndarray,
    width: float,
    log_weights: float | np.ndarray = 0.0,
    leave_out_itself: bool = False,
) -> np.ndarray:
    """Return the logarithm of the sum of Gaussian windows around centers at points, which may be the same."""
    sums = np.empty(len(points))
    for start in range(0, len(points), _CHUNK):
        part = slice(start, start + _CHUNK)
        logs = cdist(points[part], centers, "sqeuclidean")
        logs /= -2 * width**2
        logs += log_weights
        if leave_out_itself:
            logs[np.arange(len(logs)), np.arange(start, start + len(logs))] = -np.inf
        highest = logs.max(axis=1)
        logs -= highest[:, np.newaxis]
        windows = np.exp(np.maximum(logs, _NOTHING, out=logs), out=logs)
        sums[part] = highest + np.log(windows.sum(axis=1))
    return sums


def score_marginals(
    cells: np.ndarray, released_cells: np.ndarray, known_cells: np.ndarray, n_values: np.ndarray
) -> np.ndarray:
    """Score rows by how much more frequent their values are in the release than in known rows, one by one.

    The sum over attributes of the logarithm of the ratio of both shares: the attack on published frequencies of Homer
    et al. (2008). It works on a release of exact marginals, where no released row is near any row.

    All rows are of one class, and have the place of each value among the ``n_values`` of its attribute. The known ones
    are rows of the same distribution that the attacker has: none of those that are scored.

    Examples
    --------
    >>> score_marginals(np.array([[0], [1]]), np.array([[0], [0]]), np.array([[1], [1]]), np.array([2])).round(2)
    array([ 1.61, -1.61])
    """
    scores = np.zeros(len(cells))
    for column, n in enumerate(n_values):
        own = cells[:, column]
        shares = []
        for side in (released_cells, known_cells):
            counts = np.bincount(side[:, column], minlength=n) + 0.5  # no share is 0
            shares.append(counts / counts.sum())
        scores += np.log(shares[0] / shares[1])[own]
    return scores


def measure_hits(inside: np.ndarray, outside: np.ndarray, rate: float) -> float:
    """Share of training rows above a threshold that another row is above with a chance of at most ``rate``.

    The true positive rate at a false positive rate. The threshold is one of the scores of the other rows, so chosen
    that one more of these would be above it with that chance, exactly; NaN where they are too few for any.

    Examples
    --------
    >>> measure_hits(np.array([3.0, 9.0]), np.arange(10.0) / 2, 0.1), measure_hits(np.ones(2), np.arange(9.0), 0.01)
    (0.5, nan)
    """
    place = math.floor(rate * (len(outside) + 1) * (1 + _ROUNDING))
    return float(np.mean(inside > np.sort(outside)[-place])) if place else math.nan


@dataclass(frozen=True)
class Membership:
    """How well a score tells training rows from others."""

    auc: float  #: probability that a training row has the higher score, of one of each drawn at random; 0.5 is guessing
    advantage: float
    """True less false positive rate of the best threshold (Yeom et al., 2018), chosen on one half of the rows and
    measured on the other, in turns: chosen and measured on the same rows it would be above 0 for any score."""


def attack_membership(inside: np.ndarray, outside: np.ndarray) -> Membership:
    """Tell training rows from others of the same distribution by their scores, of at least two rows each.

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
    """Measure what the release of a sampler, which is fitted here, tells of its training rows.

    Parameters
    ----------
    sampler : Sampler
        With a domain.
    training, others : tuple of (DataFrame or array of shape (n, k), array of shape (n,))
        Rows and class labels: those that are replaced, and others of the same distribution.

    Returns
    -------
    dict
        ``membership_auc`` and ``membership_advantage`` of the scores of `score_nearness`. ``calibrated_auc``,
        ``calibrated_tpr_1`` and ``calibrated_tpr_01`` (`measure_hits` at 1 % and 0.1 %; NaN with fewer than 99 and 999
        other rows of every class) of the scores of an attacker who knows how the rows were made: `score_copies` of
        noisy copies; of other releases `score_marginals`, of every other of the other rows, while the rest of these are
        known. Of noisy copies also ``calibrated_auc_copied``, the same of
        the rows that were copied at least once alone; ``relinked``; and ``interval_50`` and ``interval_95``: width of
        the interval that holds the original value with 50 and 95 %, as a share of the attribute's declared range, at
        most 1, and the mean over attributes.

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
    if not isinstance(sampler, NoisyCopies):
        known, attacked = ((outside[start::2], other_labels[start::2]) for start in (0, 1))
        given = domain, (released, released_labels), known
        scores, other_scores = _score_by_marginals((inside, labels), *given), _score_by_marginals(attacked, *given)
        return metrics | _attack_calibrated(scores, other_scores, labels, attacked[1])
    noise = sampler.noise_scale or _NO_NOISE
    everyone, their_labels = np.concatenate([inside, outside]), np.concatenate([labels, other_labels])
    scores = score_copies(everyone / unit, their_labels, released / unit, released_labels, noise)
    scores, other_scores = np.split(scores, [len(inside)])
    metrics |= _attack_calibrated(scores, other_scores, labels, other_labels)
    copied = np.unique(sampler.sample_indices_)
    of_copied = _attack_within_classes(scores[copied], other_scores, labels[copied], other_labels)
    metrics["calibrated_auc_copied"] = of_copied["membership_auc"]
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


def _score_by_marginals(side: tuple, domain: Domain, released: tuple, known: tuple) -> np.ndarray:
    """Return the scores of rows by `score_marginals`; all of these, of the release and known, are rows and labels."""
    first = [isinstance(feature, Nominal) for feature in domain.features]
    n_values = np.array([_N_BINS if isinstance(one, Continuous) else len(one.categories) for one in domain.features])
    sides = side, released, known
    cells = [bin_continuous(rows - first, domain, _N_BINS).astype(np.int64) for rows, _ in sides]
    scores = np.full(len(cells[0]), -np.inf)
    for label in np.unique(side[1]):
        of_class = [labels == label for _, labels in sides]
        own, of_release, of_known = (rows[is_own] for rows, is_own in zip(cells, of_class, strict=True))
        scores[of_class[0]] = score_marginals(own, of_release, of_known, n_values)
    return scores


def _attack_calibrated(
    inside: np.ndarray, outside: np.ndarray, labels: np.ndarray, other_labels: np.ndarray
) -> dict[str, float]:
    """Return the metrics of calibrated scores, each the mean over the classes in which it can be measured."""
    metrics = {"calibrated_auc": _attack_within_classes(inside, outside, labels, other_labels)["membership_auc"]}
    classes, sizes = np.unique(labels, return_counts=True)
    for name, rate in _FALSE_POSITIVES.items():
        hits = np.array([measure_hits(inside[labels == one], outside[other_labels == one], rate) for one in classes])
        is_known = ~np.isnan(hits)
        metrics[name] = float(np.average(hits[is_known], weights=sizes[is_known])) if is_known.any() else math.nan
    return metrics


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
