"""Where cells are run: in this process, in processes or threads of this machine, or on the workers of a Dask cluster.

Behind all of them stands an executor of `concurrent.futures`, so that the runner hands out chunks of cells and waits
for their results in one way.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from experiments.edge import keep_prints_apart
from experiments.errors import BadInput, suggest_name
from experiments.run.executors.cluster import connect_to_dask, open_cluster
from experiments.run.executors.workers import Workers, open_processes, open_this_process, open_threads

_BACKENDS = ("loky", "threading", "dask")


@dataclass(frozen=True)
class Executor:
    """Where cells are run; BadInput if an option is invalid, or does not go with the others.

    Threads cannot be ended: after Ctrl-C, this process ends when the chunks that they run have ended. One job of "loky"
    runs in this process, unless there is a time limit or somebody else's code, which may end its process.
    """

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

    @contextmanager
    def keep_cluster(self) -> Iterator[Executor]:
        """Give this executor with a Dask cluster that lasts as long as the context, if it would start one each time."""
        if self.backend != "dask" or self.address is not None:
            yield self
            return
        with connect_to_dask(self) as client:
            yield replace(self, address=client.scheduler_info()["address"])

    @contextmanager
    def open_workers(self, has_own_code: bool = False) -> Iterator[Workers]:
        """Give workers as long as the context lasts; this process neither warns nor uses other cores meanwhile.

        What a user's own code prints is not printed among the results. Whatever runs when an exception ends the context
        is given up.
        """
        open_them = {"loky": open_processes, "threading": open_threads, "dask": open_cluster}[self.backend]
        if self.backend == "loky" and self.n_jobs == 1 and self.time_limit is None and not has_own_code:
            open_them = open_this_process
        with keep_prints_apart(), warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            with open_them(self) as workers:
                yield workers


def make_executor(settings: Mapping[str, Any]) -> Executor:
    """Return the executor that a file of the group ``executor`` describes.

    Examples
    --------
    >>> make_executor({"backend": "threading", "job": 2})
    Traceback (most recent call last):
    experiments.errors.BadInput: executor has no key 'job'; did you mean 'jobs'?
    """
    known = [field.name for field in fields(Executor)]
    for name in settings:
        if name not in known:
            raise BadInput(f"executor has no key {name!r}; {suggest_name(str(name), known)}")
    return Executor(**settings)
