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

from threadpoolctl import threadpool_limits

from experiments.edge import keep_prints_apart
from experiments.errors import BadInput, suggest_name
from experiments.run.executors.cluster import connect_to_dask, open_cluster
from experiments.run.executors.settings import ExecutorSettings
from experiments.run.executors.workers import Workers, open_processes, open_this_process, open_threads


@dataclass(frozen=True)
class Executor(ExecutorSettings):
    """Where cells are run, with the workers there.

    Threads cannot be ended: after Ctrl-C, this process ends when the chunks that they run have ended. One job of "loky"
    runs in this process, unless there is a time limit or somebody else's code, which may end its process.
    """

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
