"""``do=schema``: write the keys of a paper's file, for editors and readers."""

from __future__ import annotations

from experiments.config.request import SweepRequest
from experiments.config.schema import KEYS_FILE, SCHEMA_FILE, format_keys_page, format_schema
from experiments.errors import print_to_stderr


def run_command(request: SweepRequest) -> int:
    """Write the schema and the page; returns the exit code."""
    for path, text in ((SCHEMA_FILE, format_schema()), (KEYS_FILE, format_keys_page())):
        path.write_text(text, encoding="utf-8")
        print_to_stderr(f"  {path}")
    return 0
