"""Tables of results as pages for a browser, from disk and offline."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.errors import BadInput
from experiments.python_api import read_path, refuses_bad_input


@refuses_bad_input
def write_page(frame: pd.DataFrame, file: str | Path, *, a: str = "a", b: str = "b") -> Path:
    """Write a table of results as one page for a browser, which needs neither a server nor the network.

    Results can be filtered, sorted, grouped, drawn and downloaded there, a million rows as well; of a comparison the
    page shows the changes beside a picture of both.

    Parameters
    ----------
    frame : DataFrame
        Results as from `load_results` or `run`, or a comparison as from `compare`.
    file : str or Path
        The page; relative to the current folder.
    a, b : str
        What the page calls the two sets of results of a comparison.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    BadInput
        If the table is neither, or has no row.

    Examples
    --------
    >>> write_page(pd.DataFrame({"value": []}), "results.html")
    Traceback (most recent call last):
    experiments.errors.BadInput: the table has no rows: a page would show nothing
    """
    path = read_path(file, "file")
    if frame.empty:
        raise BadInput("the table has no rows: a page would show nothing")
    if {"mean_a", "mean_b", "verdict"} <= set(frame.columns):
        from plots.frames.changes import write_changes  # matplotlib is slow to import

        write_changes(frame, path, a, b)
    elif {"metric", "value"} <= set(frame.columns):
        from plots.frames.explorer import write_explorer  # as is jinja2

        write_explorer(frame, path)
    else:
        raise BadInput("the table has no column 'value': give results as from load_results, or a comparison")
    return path
