"""Read papers by their names: the files ``conf/paper/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments.config.paper import Paper, parse_paper
from experiments.config.paths import CONF
from experiments.config.setting import drop_entries
from experiments.config.substitutes import find_substitutes, replace_datasets
from experiments.errors import BadInput, suggest_name

PAPERS = CONF / "paper"


def list_papers() -> list[str]:
    """Return the numbers of all papers: the names of ``conf/paper`` but the demo and the benchmark.

    Examples
    --------
    >>> "2" in list_papers(), "demo" in list_papers()
    (True, False)
    """
    return sorted(filter(str.isdigit, _list_files()))


def _list_files() -> list[str]:
    return list(map(attrgetter("stem"), PAPERS.glob("*.yaml")))


def read_paper(name: str) -> Paper:
    """Read a paper as it is written: no data set stands in for another here.

    Parameters
    ----------
    name : str
        Of its file in ``conf/paper``.

    Raises
    ------
    BadInput
        If there is no such paper, or its file cannot be read or says what it may not say.

    Examples
    --------
    >>> read_paper("2").studies["comparison"].axis("epsilon")
    [0.1, 0.25, 0.5, 0.75, 1.0]
    """
    file = PAPERS / f"{name}.yaml"
    if not file.is_file():
        raise BadInput(f"unknown paper {name!r}; {suggest_name(name, _list_files())}")
    try:
        contents = OmegaConf.to_container(OmegaConf.load(file), resolve=True)
    except (OmegaConfBaseException, OSError) as error:
        raise BadInput(f"conf/paper/{name}.yaml cannot be read: {' '.join(str(error).split())}") from error
    return parse_paper(contents, file)


def prepare_paper(
    contents: Mapping[str, Any], name: str, repeats: int | None, most_repeats: int | None = None
) -> Paper:
    """Return a paper as it is to be run: with so many repeats, and substitutes for data sets that are not available.

    Parameters
    ----------
    contents : mapping
        What its file says.
    name : str
        Of the file in ``conf/paper``, which errors name.
    repeats : int or None
        Runs of every setting; as many as the paper asks for, and more where verdicts need them, if None.
    most_repeats : int, optional
        The most that a verdict may take, whatever the paper says of it or of a claim; as many as ``repeats`` if only
        these are given.

    Raises
    ------
    BadInput
        If the paper says what it may not say.
    """
    file = PAPERS / f"{name}.yaml"
    written = parse_paper(contents, file)
    substitutes = find_substitutes(written.instead)
    in_use = {"repeats_asked": written.repeats, "repeats": written.repeats if repeats is None else repeats}
    in_use["most_repeats"] = most_repeats or repeats or written.most_repeats
    if most_repeats or repeats:
        claims = [drop_entries(claim, ("most_repeats",)) for claim in contents.get("claims", ())]
        contents = {**contents, "claims": claims}
    return parse_paper(replace_datasets(contents, substitutes) | in_use, file)
