"""Columns of dates: how to tell them, and how they become numbers of days."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence
from itertools import islice

from algorithms.encoding import later_pandas as pd
from datasets.notation.spelling import is_empty, map_distinct

SHARE_OF_DATES = 0.9
"""From which share of its values on a column is one of dates."""
FORMATS = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%d %H:%M",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
"""How dates are mostly written."""

_FIRST = datetime.datetime(1970, 1, 1)
_DAY = datetime.timedelta(days=1)
_THREE_PARTS = re.compile(r"\w+\W+\w+\W+\w")  # as day, month and year are in each format
_MOST_LOOKED_AT = 200  # different values


def count_days(moment: datetime.date) -> float:
    """Return the days from 1970-01-01 to a date, with a fraction for its time of the day (in UTC, where it says that).

    Examples
    --------
    >>> count_days(datetime.date(1970, 1, 31)), count_days(datetime.datetime(1970, 1, 2, 12))
    (30.0, 1.5)
    """
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - _FIRST) / _DAY


def read_dates(cells: pd.Series, how: str) -> pd.Series:
    """Return a column of dates as days since 1970-01-01; a missing cell stays missing, any other stays as it is.

    Examples
    --------
    >>> read_dates(pd.Series(["31.01.1970", None, "soon"]), "%d.%m.%Y").tolist()
    [30.0, None, 'soon']
    """

    def read(value: object) -> object:
        moment = value if isinstance(value, datetime.date) else _parse(str(value).strip(), how)
        return value if moment is None else count_days(moment)

    return pd.Series(map_distinct(_as_objects(cells), read, None), dtype=object)


def find_formats(cells: pd.Series) -> list[str]:
    """Return how the dates of a column may be written, the likeliest first; empty if it is none of dates.

    Examples
    --------
    >>> find_formats(pd.Series(["31/12/2020", "01/02/2021"])), find_formats(pd.Series(["01/02/2021"]))
    (['%d/%m/%Y'], ['%d/%m/%Y', '%m/%d/%Y'])
    >>> find_formats(pd.to_datetime(pd.Series(["2020-01-31"]))), find_formats(pd.Series(["2.5"]))
    (['%Y-%m-%d'], [])
    """
    if cells.dtype.kind in "iufbc":
        return []
    values = list(islice((value for value in pd.unique(_as_objects(cells)) if not is_empty(value)), _MOST_LOOKED_AT))
    words = [str(value).strip() for value in values if not isinstance(value, datetime.date)]
    if not words:
        return ["%Y-%m-%d"] if values else []
    dated = [word for word in words if _THREE_PARTS.match(word)]
    if len(dated) <= SHARE_OF_DATES * len(words):
        return []
    shares = {how: sum(_parse(word, how) is not None for word in dated) / len(words) for how in FORMATS}
    best = max(shares.values())
    return [how for how, share in shares.items() if share == best] if best > SHARE_OF_DATES else []


def say_days(name: str, formats: Sequence[str]) -> str:
    """Return the way to have a column of dates as numbers.

    Examples
    --------
    >>> say_days("born", ["%d/%m/%Y", "%m/%d/%Y"])
    'dates: {"born": "%d/%m/%Y"} (or "%m/%d/%Y") makes days since 1970-01-01 of it'
    """
    others = f" (or {' or '.join(json.dumps(how) for how in formats[1:])})" if formats[1:] else ""
    written = f"{{{json.dumps(name, ensure_ascii=False)}: {json.dumps(formats[0])}}}"
    return f"dates: {written}{others} makes days since 1970-01-01 of it"


def _as_objects(cells: pd.Series) -> pd.Series:
    """Return moments as Python's own, which are dates whatever file they come from."""
    return cells.astype(object) if cells.dtype.kind == "M" else cells


def _parse(word: str, how: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.strptime(word, how)
    except ValueError:
        return None
