"""Noise for a release: drawn by OpenDP, whose samplers are safe from what floating-point numbers give away.

A textbook sampler of Laplace noise returns some floating-point numbers and never others, and which ones they are
depends on the exact answer: the low-order bits of a noisy answer can give the answer away (Mironov, 2012). OpenDP
draws bits from the operating system, samples the discrete Laplace distribution on the grid of all multiples of 2^-1074
with exact arithmetic, and rounds once, at the end. Its selections compare exact scores plus noise, of which it draws as
many bits as the comparison needs. Noise of the maximum norm is put together from such samples, see `noisy_together`.

What draws is told by its type. `SecureGenerator` is a numpy generator for everything that may be public: which features
and cuts a node is offered, where in a chosen interval a cut lies, which rows are drawn from a noisy distribution. The
mechanisms look at the type and draw their noise elsewhere. The part of the rows that a record belongs to is secret,
like noise: `draw_secret_parts` draws it for each record by itself from the bits of the operating system, so that no
seed tells it, and no other record changes it. One account does not hold with public choices: that of a bootstrap
(`events.Bootstrapped`) averages over which rows a tree gets, as if that were secret. Only variants that are unsound
draw one.

Not covered: the time that a run takes, and the rounding of what is protected before noise is added. A sum or a score in
floating point can move between neighbouring tables by some 10^-16 of its size more than its sensitivity. Counts are
exact, and so are the sums of the thrifty tree for numbers.
"""

from __future__ import annotations

import math
import secrets
from functools import cache, lru_cache
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from algorithms.parameters import ParameterError

SMALLEST_EPSILON = 2.0**-25
"""Budget that noise of the maximum norm needs at least.

It is put together from discrete Laplace noise of a scale up to 2^31 / epsilon, which OpenDP draws as 64 bits and cuts
off at 2^63: at a scale of 2^56 with a probability of exp(-2^7) < 10^-55."""


class SecureGenerator(np.random.Generator):
    """A numpy generator for public choices, with which the mechanisms draw their noise by OpenDP.

    Parameters
    ----------
    bits : BitGenerator
        What draws the public choices: OpenDP takes no seed.

    Raises
    ------
    ImportError
        If OpenDP is not installed.

    Examples
    --------
    >>> from algorithms.mechanisms import laplace
    >>> some, others = (SecureGenerator(np.random.PCG64(7)) for _ in range(2))
    >>> some.random() == others.random(), laplace(0.0, 1.0, 1.0, some) == laplace(0.0, 1.0, 1.0, others)
    (True, False)
    """

    def __init__(self, bits: np.random.BitGenerator):
        _import_opendp()
        super().__init__(bits)

    def __reduce__(self):
        return SecureGenerator, (self.bit_generator,)  # numpy's would come back as a plain generator in a worker


def is_secure(rng) -> bool:
    """Tell whether the noise of a generator is OpenDP's."""
    return isinstance(rng, SecureGenerator)


def draw_secret_parts(n_rows: int, n_parts: int) -> np.ndarray:
    """Draw the part of each row by itself, from the bits of the operating system.

    Parameters
    ----------
    n_rows : int
        Number of rows, at least 0.
    n_parts : int
        Number of parts, at least 1.

    Returns
    -------
    int64 array of shape (n_rows,)
        A number from 0 to ``n_parts - 1`` for each row, independent of all others. Nothing keeps it or could draw it
        again.

    Notes
    -----
    That parts cost no more than the dearest of them (`events.Parallel`) needs the other rows to stay where they are
    when one comes or goes. A part that follows from a row's position and a seed that is known does not: without the
    first row, every other row has the part of the one before.
    """
    # 64 bits a row, so that parts differ in their chance by n_parts / 2^64 at most, the same for every row.
    numbers = np.frombuffer(secrets.token_bytes(8 * n_rows), dtype=np.uint64)
    return (numbers % np.uint64(n_parts)).astype(np.int64)


def noisy_number(value: float, sensitivity: float, epsilon: float) -> float:
    """Do what `mechanisms.laplace` does, for a finite epsilon: Mironov (2012) says why not in floating point."""
    return _make_laplace(sensitivity / epsilon, False)(float(value))


def noisy_numbers(values: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """Do what `mechanisms.laplace_vector` does, for a finite epsilon: Mironov (2012) says why not in floating point."""
    released = _make_laplace(sensitivity / epsilon, True)(values.astype(np.float64).tolist())
    return np.array(released, dtype=np.float64)


def noisy_together(values: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """Do what `mechanisms.sup_norm_vector` does, on a grid, for a finite epsilon of at least ``SMALLEST_EPSILON``.

    Raises
    ------
    ParameterError
        If epsilon is smaller.

    Notes
    -----
    OpenDP has no such mechanism. Here it is put together from its discrete Laplace noise, and numbers of ``secrets``,
    in whole numbers of a grid 2^-30 as fine as the noise or the sensitivity. If K has the probabilities
    c (2K + 1)^m q^K and x is drawn evenly from {-K, ..., K}^m, then x has the probability c q^max|x_i| / (1 - q). The
    sum of m + 1 geometric numbers has c' (K + 1) ... (K + m) q^K; it is accepted with the ratio of the two, up to a
    constant, a product of fractions below 1. Rounded down to the grid, two numbers are no farther apart than their
    distance, rounded up to it.
    """
    if epsilon < SMALLEST_EPSILON:
        raise ParameterError(
            f"epsilon must be larger with noise='opendp': it leaves {epsilon:.2g} for numbers that are released "
            f"together, which need {SMALLEST_EPSILON:.2g} at least"
        )
    fineness = math.floor(math.log2(min(sensitivity, sensitivity / epsilon))) - 30
    reach = math.ceil(math.ldexp(sensitivity, -fineness))
    radius = _draw_radius(len(values), reach / epsilon)
    return np.array(
        [
            math.ldexp(math.floor(math.ldexp(value, -fineness)) + secrets.randbelow(2 * radius + 1) - radius, fineness)
            for value in values.tolist()
        ]
    )


def _draw_radius(m: int, scale: float) -> int:
    """Draw K with probabilities in proportion to (2K + 1)^m exp(-K / scale)."""
    while True:
        total = sum(_draw_geometric(m + 1, scale))
        if all(secrets.randbelow(2 * total + 2 * i) <= 2 * total for i in range(1, m + 1)):
            return total


def _draw_geometric(n: int, scale: float) -> list[int]:
    """Draw n numbers with probabilities in proportion to exp(-k / scale): discrete Laplace noise, if not below 0."""
    drawn: list[int] = []
    while len(drawn) < n:
        drawn += [k for k in _make_discrete_laplace(scale)([0] * n) if k >= 0]
    return drawn[:n]


def weighed_choice(quality: np.ndarray, measure: np.ndarray, sensitivity: float, epsilon: float) -> int:
    """Do what `mechanisms.exponential` does, for a finite epsilon: the largest score plus Gumbel noise.

    Its scale is ``2 * sensitivity / epsilon``, where monotone scores are told half of their sensitivity. A base measure
    m counts as a score higher by the scale times log(m): added to the exponent, it multiplies the weight. It is public,
    so that the sensitivity stays as it is.

    Raises
    ------
    ValueError
        If no candidate has a positive measure.
    """
    scale = 2 * sensitivity / epsilon
    possible = np.flatnonzero(measure > 0)
    if len(possible) == 0:
        raise ValueError("exponential: no candidate with a positive measure")
    scores = quality[possible] + scale * np.log(measure[possible])
    return int(possible[_make_noisy_maximum(scale, "gumbel")(scores.tolist())])


def flipped_choice(quality: np.ndarray, sensitivity: float, epsilon: float) -> int:
    """Do what `mechanisms.permute_and_flip` does, for a finite epsilon: the largest score plus exponential noise.

    Its scale is ``2 * sensitivity / epsilon``, where monotone scores are told half of their sensitivity.
    """
    return _make_noisy_maximum(2 * sensitivity / epsilon, "exponential")(quality.tolist())


INSTALLED_BY = 'pip install "dp-replica[secure]"'


def is_installed() -> bool:
    """Return whether OpenDP can be imported here; to find out does not import it, which takes a second."""
    try:
        return find_spec("opendp") is not None
    except (ImportError, ValueError):  # somebody forbids it
        return False


@cache
def _import_opendp() -> ModuleType:
    try:
        import opendp.prelude
    except ImportError:
        raise ImportError(f"noise='opendp' needs the package opendp, which is not installed: {INSTALLED_BY}") from None
    opendp.prelude.enable_features("contrib")
    return opendp.prelude


@lru_cache(maxsize=1000)  # most algorithms use a few scales
def _make_laplace(scale: float, is_vector: bool):
    dp = _import_opendp()
    number = dp.atom_domain(T=float, nan=False)
    if is_vector:
        return dp.m.make_laplace(dp.vector_domain(number), dp.l1_distance(T=float), scale=scale)
    return dp.m.make_laplace(number, dp.absolute_distance(T=float), scale=scale)


@lru_cache(maxsize=1000)
def _make_discrete_laplace(scale: float):
    dp = _import_opendp()
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=1000)
def _make_noisy_maximum(scale: float, noise: str):
    """Return OpenDP's noisy maximum: what it calls its measure of privacy decides which noise it adds.

    With Gumbel noise OpenDP accounts for it in zero-concentrated terms; it is the exponential mechanism all the same.
    """
    dp = _import_opendp()
    measure = {"gumbel": dp.zero_concentrated_divergence, "exponential": dp.max_divergence}[noise]()
    scores = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_noisy_max(scores, dp.linf_distance(T=float), measure, scale=scale)
