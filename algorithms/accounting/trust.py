"""Against whom a promise of privacy holds: what has to stay secret, and what anybody may know.

An account of epsilons says how much noise an algorithm adds. Whether that noise protects anybody depends on who can
know it: noise that a seed decides is no noise for who knows the seed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trust:
    """What a fit's promise rests on.

    Parameters
    ----------
    noise : {"numpy", "opendp", "own"}
        What draws the noise: the parameter ``noise`` of the estimator; "own" is that of an implementation of others.
    secret : tuple of str
        What nobody may learn.
    public : tuple of str
        What anybody may know.
    against : str
        From whom the promise protects.
    holds : bool
        Whether it protects from anybody who sees what is released and knows all that is public.
    """

    noise: str
    secret: tuple[str, ...]
    public: tuple[str, ...]
    against: str
    holds: bool

    def __str__(self) -> str:
        return f"noise by {self.noise}, against {self.against}; secret: {', '.join(self.secret)}"


_KNOWN = ("the code", "the domain", "the parameters", "all records but one")

EXPERIMENT = Trust(
    "numpy",
    ("random_state and all that is drawn from it", "the low-order bits of noisy numbers"),
    _KNOWN,
    "nobody: with random_state every noisy number gives its exact one, and a seed of 31 bits can be found by trying",
    holds=False,
)
"""A seed decides the noise, so that experiments can be repeated: the account is the algorithm's, were it secret."""

RELEASE = Trust(
    "opendp",
    ("the rows, and the fitted estimator", "the bits of the operating system that noise and parts of the rows took"),
    (*_KNOWN, "random_state", "the release object, whole"),
    "anybody who has the release object and knows what is public, but does not watch the fit (its time, its memory)",
    holds=True,
)
"""OpenDP draws the noise, and nothing keeps the bits that it took."""

OTHERS = Trust(
    "own",
    ("whatever that implementation draws from",),
    _KNOWN,
    "nobody: an implementation of others, of which no release is made here",
    holds=False,
)
"""A peer: its account is about its algorithm."""
