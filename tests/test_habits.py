"""The files that other programs read of this project: workflows, hooks, citation, the site's configuration."""

import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z%-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
OF_A_RUNNER = {"pip", "mv", "docker", "npx"}  # programs of the machines that workflows run on


def read(name):
    return yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))


def steps_of(workflow):
    return [step for job in read(workflow)["jobs"].values() for step in job["steps"]]


def test_the_gate_runs_on_every_push_and_all_papers_every_week():
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "weekly.yml"]
    # YAML 1.1 reads the key `on` as true
    assert set(read(WORKFLOWS[0])[True]) == {"push", "pull_request"}
    assert "schedule" in read(WORKFLOWS[1])[True]
    assert ".ci/run" in [step.get("run") for step in steps_of(WORKFLOWS[0])]
    artifact = next(step["with"] for step in steps_of(WORKFLOWS[1]) if "upload-artifact" in step.get("uses", ""))
    assert artifact["path"] == "results/report"


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_runs_is_there(workflow):
    commands = [step["run"] for step in steps_of(workflow) if "run" in step]
    assert commands
    for command in commands:
        program, *words = command.split()
        if program == "make":
            assert {word for word in words if not word.startswith("--")} <= TARGETS
        elif program not in OF_A_RUNNER:
            assert os.access(PROJECT / program, os.X_OK)


def test_what_the_gate_makes_is_there():
    text = "".join((PROJECT / ".ci" / name).read_text(encoding="utf-8") for name in ("run", "papers"))
    made = re.findall(r"^(?:nice )?make (?:--jobs=2 )?([a-z0-9-]+)", text, re.MULTILINE)
    named = {re.sub(r"-paper-\d", "-paper-%", name) for name in made}
    needed = {"lint", "test-all", "check", "reproduce-all", "report"}  # the suite builds the documentation
    assert needed <= named <= TARGETS


def test_the_hooks_format_and_lint():
    (local,) = read(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    entries = {hook["id"]: hook["entry"] for hook in local["hooks"]}
    assert entries == {"format": ".venv/bin/ruff format", "lint": "make lint"}
    assert all(hook["language"] == "system" for hook in local["hooks"])


def test_the_citation_is_of_this_version():
    citation = read("CITATION.cff")
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
