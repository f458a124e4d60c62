"""``do=describe``: a draft of the YAML file of a table of one's own."""

from __future__ import annotations

import os
import re
from pathlib import Path

from algorithms.installation import PROGRAM
from datasets import own_file
from datasets.draft import format_draft
from experiments.config.request import SweepRequest
from experiments.errors import BadInput, print_to_stderr
from experiments.skeletons.writing import check_name, write_new_file


def run_command(request: SweepRequest) -> int:
    """Print the draft, or write it into the folder of data sets of ``to``; returns the exit code."""
    file, target, to = (request.config[name] for name in ("file", "target", "to"))
    if file is None:
        raise BadInput("say which table: describe my.csv")
    path = Path(os.path.abspath(Path(str(file)).expanduser()))
    if to is None:
        print(_draft(path, str(path), target), end="")
        return 0
    name = re.sub(r"\W+", "_", path.stem)
    check_name("dataset", name)
    folder = Path(str(to)).expanduser()
    draft = folder / "dataset" / f"{name}.yaml"
    write_new_file(draft, _draft(path, os.path.relpath(path, draft.parent), target))
    print(draft)
    print_to_stderr(f"{PROGRAM} --config-dir {folder} dataset={name} algorithm=ALGORITHM epsilon=1 runs it")
    return 0


def _draft(path: Path, shown: str, target: object) -> str:
    try:
        form = own_file.guess_form(path)
        frame = own_file.read_file(path, form)
    except own_file.UnreadableFile as error:
        raise BadInput(str(error)) from error
    try:
        return format_draft(frame, shown, None if target is None else str(target), form)
    except ValueError as error:
        raise BadInput(f"{path.name}: {error}") from error
