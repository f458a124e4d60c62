"""``do=schema``: write the keys of a paper's file, for editors and readers."""

from __future__ import annotations

from experiments.commands.common import say
from experiments.config.request import SweepRequest
from experiments.config.schema import KEYS_FILE, SCHEMA_FILE, format_keys_page, format_schema


def run_command(request: SweepRequest) -> int:
    """Write the schema and the page; returns the exit code."""
    for path, text in ((SCHEMA_FILE, format_schema()), (KEYS_FILE, format_keys_page())):
        path.write_text(text, encoding="utf-8")
        say(f"  {path}")
    return 0
