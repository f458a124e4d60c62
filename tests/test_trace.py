"""``profile=true``: what the seconds of a run went to, as viewers of traces read it."""

import json

import pytest

from experiments import trace
from tests.command_line import exit_code


def read_spans(folder):
    """Return the events of a trace with a length, and the names of its rows."""
    events = json.loads((folder / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    return [event for event in events if event["ph"] == "X"], rows


@pytest.mark.parametrize("executor", ["executor.jobs=1", "executor=threads"])
def test_every_cell_is_in_a_trace_within_the_time_of_the_run(executor, tmp_path):
    words = "dataset=car", "algorithm=majority", "epsilon=1", "repeats=6", "output=json", f"results={tmp_path}"
    assert exit_code(*words, executor, "profile=true") == 0
    spans, rows = read_spans(tmp_path)
    chunks = [event for event in spans if event["name"] == "car majority"]
    assert sum(event["args"]["cells"] for event in chunks) == 6
    (run,) = (event for event in spans if event["name"] == "run cells")
    for chunk in chunks:
        assert run["ts"] <= chunk["ts"] and chunk["ts"] + chunk["dur"] <= run["ts"] + run["dur"] + 1e4
        assert rows[chunk["tid"]].startswith("process ")
    assert rows[run["tid"]] == "this process"
    assert {"start: imports, request", "look up what is stored", "write tables and figures"} <= {
        event["name"] for event in spans
    }


def test_without_it_nothing_is_noted(tmp_path):
    words = "dataset=car", "algorithm=majority", "epsilon=1", "repeats=2", "output=json", f"results={tmp_path}"
    assert exit_code(*words, "executor.jobs=1") == 0
    assert not (tmp_path / "trace.json").exists() and trace._spans is None
    assert exit_code(*words, "profile=maybe") == 2
