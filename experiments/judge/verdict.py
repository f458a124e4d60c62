"""The verdicts, and the scale on which papers print a metric."""

from __future__ import annotations

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
NOT_TESTABLE, NOT_RUN = "not testable", "not run"
ONLY_UNDER_READING = "only under a reading"  # of claims: one that our default reading of the text does not bear out
INCONSISTENT = "inconsistent in print"  # of claims: what is printed contradicts itself, whatever is run


def is_in_per_cent(metric: str) -> bool:
    """Whether papers print this metric in per cent (it is a fraction in files all the same).

    Examples
    --------
    >>> is_in_per_cent("accuracy"), is_in_per_cent("recall_acc"), is_in_per_cent("mse")
    (True, True, False)
    """
    return metric == "accuracy" or metric.startswith(("precision_", "recall_"))


def half_digit(metric: str, decimals: int) -> float:
    """Half a unit of the last printed digit, on the scale of the files.

    Examples
    --------
    >>> f"{half_digit('accuracy', 3):.1e}", half_digit("mse", 0)
    ('5.0e-06', 0.5)
    """
    return 0.5 * 10.0 ** -(decimals + (2 if is_in_per_cent(metric) else 0))
