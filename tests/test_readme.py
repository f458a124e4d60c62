"""The README and what it points at agree."""

import re
from pathlib import Path

import pytest

from plots.reference import readme_block, verdicts_block

PROJECT = Path(__file__).resolve().parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_every_link_and_picture_is_there():
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target]
    assert targets
    assert [target for target in targets if not (PROJECT / target).exists()] == []


def test_every_make_target_is_there():
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z%-]+):", makefile, flags=re.MULTILINE))
    named = {
        re.sub(r"reproduce-paper-.", "reproduce-paper-%", name) for name in re.findall(r"make ([a-z0-9-]+)", README)
    }
    assert {"demo", "test", "bench", "reproduce-paper-%"} <= named
    assert named <= targets


def test_the_table_of_all_verdicts_is_that_of_the_published_runs():
    _, _, rest = README.partition("<!-- verdicts -->\n")
    assert rest.partition("\n<!-- /verdicts -->")[0] == verdicts_block()


@pytest.mark.parametrize(
    "paper",
    sorted(path.name.removeprefix("paper-") for path in (PROJECT / "results" / "reference").glob("paper-*")),
)
def test_the_verdicts_are_those_of_the_published_run(paper):
    _, _, rest = README.partition(f"<!-- paper-{paper} -->\n")
    shown, _, _ = rest.partition(f"\n<!-- /paper-{paper} -->")
    assert shown == readme_block(paper)
