"""``do=new``: an algorithm, a data set, a metric, a paper or a whole project of one's own, begun."""

from __future__ import annotations

from pathlib import Path

from algorithms.installation import PROGRAM
from experiments.errors import BadInput
from experiments.request import SweepRequest
from experiments.skeletons.writing import FILES, write_skeleton

_RUN = {
    "algorithm": "dataset=car algorithm={name} epsilon=1",
    "dataset": "dataset={name} algorithm=rdt epsilon=1",
    "metric": "dataset=car algorithm=rdt epsilon=1 metrics={name}",
    "paper": "paper={name}",
    "project": "paper={name}",
}


def run_command(request: SweepRequest) -> int:
    """Write a skeleton, and print its files and the command that runs it; returns the exit code."""
    what, name = request.config["what"], request.config["name"]
    if what is None or name is None:
        raise BadInput(f"name what to begin, and give it a name: new {'|'.join(FILES)} NAME")
    folder = Path(str(request.config["to"])).expanduser()
    if what in ("project", "notebooks"):
        folder /= str(name)
    for path in write_skeleton(str(what), str(name), folder):
        print(path)
    if what in _RUN:
        print(f"{PROGRAM} --config-dir {folder} {_RUN[what].format(name=name)}")
    return 0
