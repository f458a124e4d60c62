"""What the files of the group ``executor`` say: where cells are run, how many at once and for how long."""

from __future__ import annotations

from dataclasses import dataclass

import joblib

from experiments.errors import BadInput

_BACKENDS = ("loky", "threading", "dask")


@dataclass(frozen=True)
class ExecutorSettings:
    """Where cells are run; BadInput if an option is invalid, or does not go with the others."""

    backend: str = "loky"  #: processes; or "threading", or "dask", a cluster
    jobs: int = -1  #: cells at once, from the number of cores if negative; a running cluster has one for each worker
    address: str | None = None  #: of a running cluster's scheduler, tcp://10.0.0.1:8786; None starts one here
    time_limit: float | None = None  #: seconds that a cell may take

    def __post_init__(self):
        if self.backend not in _BACKENDS:
            raise BadInput(f"executor.backend must be one of {', '.join(_BACKENDS)}, got {self.backend!r}")
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise BadInput(f"executor.jobs must be a whole number other than 0 (-1: all cores), got {self.jobs!r}")
        if self.address is not None and self.backend != "dask":
            raise BadInput("executor.address is that of a Dask scheduler: it goes with executor=dask")
        if not isinstance(self.address, str | None):
            raise BadInput(f"executor.address must be like tcp://10.0.0.1:8786, got {self.address!r}")
        limit = self.time_limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0):
            raise BadInput(f"executor.time_limit must be a number of seconds above 0, or null, got {limit!r}")
        if limit is not None and self.backend == "threading":
            raise BadInput("executor.time_limit cannot end a thread; choose executor=local or executor=dask")

    @property
    def n_jobs(self) -> int:
        """How many cells run at once, at least 1."""
        return self.jobs if self.jobs > 0 else max(joblib.cpu_count() + 1 + self.jobs, 1)
