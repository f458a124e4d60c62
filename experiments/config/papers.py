"""Read papers by their names: the files ``conf/paper/*.yaml``."""

from __future__ import annotations

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments.config.paths import CONF
from experiments.errors import BadInput, suggestion

PAPERS = CONF / "paper"


def paper_names() -> list[str]:
    """Return the papers, by number: all of ``conf/paper`` but the demo and the benchmark.

    Examples
    --------
    >>> "2" in paper_names(), "demo" in paper_names()
    (True, False)
    """
    return sorted(path.stem for path in PAPERS.glob("*.yaml") if path.stem.isdigit())


def paper_of(name: str) -> dict:
    """Return a paper's description as it is written: no data set stands in for another here.

    Raises
    ------
    BadInput
        If there is no such paper, or it cannot be read.
    """
    if name not in paper_names():
        raise BadInput(f"unknown paper {name!r}; {suggestion(name, paper_names())}")
    try:
        return OmegaConf.to_container(OmegaConf.load(PAPERS / f"{name}.yaml"), resolve=True)
    except (OmegaConfBaseException, OSError) as error:
        raise BadInput(f"conf/paper/{name}.yaml cannot be read: {' '.join(str(error).split())}") from error
