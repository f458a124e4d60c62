"""A paper's run as objects and tables: what its folder holds, for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from algorithms.installation import ROOT, resolve_path
from experiments.errors import BadInput, suggest_name
from experiments.python_api import read_path, refuses_bad_input
from plots.exhibits.views import view
from plots.pages.html import render_template
from plots.runs.paper_run import PaperRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PUBLISHED = ROOT / "results" / "reference"


class NotebookView(PaperRun):
    """What a notebook shows of verdicts: the promise, the answers, the finding and the claims."""

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The claims of the paper, a row for each with its ``id``, ``text``, ``verdict``, ``reason`` and more."""
        texts = {claim.id: claim.text for claim in self.paper.claims}
        return pd.DataFrame([{"text": texts[claim.id], **claim.model_dump()} for claim in self.claims])

    def _repr_html_(self) -> str:
        return render_template("notebook.html.j2", run=self)


class LoadedPaper(NotebookView):
    """What came out of a paper: ``answers``, ``finding``, ``numbers``, ``claims``, ``privacy``, tables and figures.

    A notebook shows its promise, the three answers and the claims.
    """

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The paper's tables by their ids, in tidy form."""
        return {exhibit.id: self.read_frame(exhibit) for exhibit in self.paper.tables}

    @cached_property
    def figures(self) -> dict[str, pd.DataFrame]:
        """The numbers of the paper's figures by their ids."""
        return {exhibit.id: self.read_frame(exhibit) for exhibit in self.paper.figures}

    @cached_property
    def accounts(self) -> pd.DataFrame:
        """What each algorithm claims of its privacy and what its ledger says, a row for each setting."""
        return pd.json_normalize(self.privacy)

    def draw(self, name: str) -> Figure:
        """Return a figure of the paper by its id, as matplotlib draws it; BadInput if there is none.

        Parameters
        ----------
        name : str
            One of the keys of ``figures``.
        """
        exhibits = {exhibit.id: exhibit for exhibit in self.paper.figures}
        if name not in exhibits:
            raise BadInput(f"there is no figure {name!r}; {suggest_name(name, exhibits)}")
        return view(self.paper, exhibits[name]).draw(self.figures[name])


@refuses_bad_input
def load_paper(run: str | int | Path) -> LoadedPaper:
    """Return what came out of a paper: of a folder that a run wrote, or as this project has published it.

    Parameters
    ----------
    run : str, int or Path
        The folder of a run, such as ``"results/paper-2"``, relative as the results of `run`;
        or the name of a paper, ``2`` or ``"benchmark"``: then the results that DP-Replica has published.

    Returns
    -------
    LoadedPaper
        With ``answers``, ``numbers`` and ``claims`` as its page has them.

    Raises
    ------
    BadInput
        If there is no such run, or a file of it is damaged.

    Examples
    --------
    >>> paper = load_paper(2)
    >>> paper.short_heading, [answer.question for answer in paper.answers]  # doctest: +NORMALIZE_WHITESPACE
    ('2. RFDPP-Gini',
     ['Do its numbers come out?', 'Do its claims hold?', 'Is it private as claimed?'])
    """
    folder = resolve_path(read_path(run, "run")) if not isinstance(run, int) else None
    if folder is not None and folder.is_dir():
        return LoadedPaper.read(folder)
    name, published = str(run), _list_published()
    if name not in published:
        raise BadInput(f"{run} is neither the folder of a run nor a published paper; {suggest_name(name, published)}")
    return LoadedPaper.read(published[name])


def _list_published() -> Mapping[str, Path]:
    return {path.name.removeprefix("paper-"): path for path in sorted(_PUBLISHED.glob("paper-*")) if path.is_dir()}
