"""What one cell gave, or why it failed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Record:
    """What is known of a cell: ``done`` with what it gave, or ``failed`` with the error."""

    status: str
    measured: Measured | None = None
    error: str | None = None


@dataclass(frozen=True)
class Measured:
    """What one cell gave."""

    #: ``accuracy, precision_<class>, recall_<class>`` or ``mse, unit_mse, r2``; NaN where undefined (a class never
    #: predicted has no precision, a class without test rows no recall). ``unit_mse`` is the mean squared error of the
    #: target scaled to [0, 1] by its declared bounds. Of an estimator that has ``noise_scales_`` also
    #: ``noise_scale_<part>``, and of one that has ``beta_`` or ``sampling_ratio_`` these. Where the protocol asks for
    #: ``leakage``, what `leakage.measure_leakage` returns.
    metrics: dict
    #: Wall-clock time of ``fit``. Estimators that fit a summary of the rows share it within a split and a worker: the
    #: pass over the rows counts for the first that needs it, and not for those that come after.
    fit_seconds: float
    #: ``privacy`` (claimed_epsilon, accounted_epsilon, noisy_epsilon, keeps_claim, neighbours, accounted: ε by
    #: neighbour relation, faults and data_faults: name, why and source of each) of an estimator that has ``privacy_``,
    #: and ``clipped``: how many training values lay outside the declared bounds, by column.
    details: dict = field(default_factory=dict)
    #: Wall-clock time of the whole cell, from its rows to its metrics; NaN where unknown.
    seconds: float = math.nan
