"""Where the files of this checkout are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: paths that users give are relative to it."""

CONF = ROOT / "conf"
REFERENCE = ROOT / "results" / "reference"
"""Published results, a folder for each paper."""
