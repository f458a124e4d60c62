"""``do=describe``: what an algorithm, a data set or a metric is, or a draft of the YAML file of one's own table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from algorithms.installation import PROGRAM
from datasets.own_tables.opened_file import PACKED, UnreadableFile, show_path
from documents import search_path
from experiments.config.paths import CONF
from experiments.errors import BadInput, print_to_stderr
from experiments.request import SweepRequest
from experiments.skeletons.writing import check_name, write_new_file

_DESCRIBED = ("algorithm", "dataset", "metric")
"""What can be described by its name: the groups in which it is chosen."""


def run_command(request: SweepRequest) -> int:
    """Print what was chosen, one after the other, or the draft of a table; returns the exit code."""
    chosen = {group: names for group in _DESCRIBED if (names := _list_chosen(request, group))}
    if not chosen:
        return _draft_table(request)
    for name in ("file", "target", "to"):
        if request.config[name] is not None:
            raise BadInput(f"{name} belongs to a table of your own: leave it out beside {'=..., '.join(chosen)}=...")
    screens = [_find_writer(group)(name) for group, names in chosen.items() for name in names]
    print("\n\n".join(screens))
    return 0


def _find_writer(group: str) -> Callable[[str], str]:
    """Return who describes what is chosen in a group; what describes algorithms imports the most."""
    if group == "algorithm":
        from experiments.catalogue.algorithms import describe_algorithm

        return describe_algorithm
    if group == "dataset":
        from experiments.catalogue.data_sets import describe_dataset

        return describe_dataset
    from experiments.catalogue.metrics import describe_metric

    return describe_metric


def _list_chosen(request: SweepRequest, group: str) -> list[str]:
    """Return the names of a group that are asked for; metrics have no files to choose from, so theirs is a setting."""
    if group != "metric":
        return request.list_choices(group)
    if "metrics" not in request.values:
        return []
    from experiments.metrics.find import read_names  # with pandas, as all that knows data sets

    return read_names(request.values["metrics"])


def _draft_table(request: SweepRequest) -> int:
    """Print the draft, or write it into the folder of data sets of ``to``."""
    file, target, to = (request.config[name] for name in ("file", "target", "to"))
    if file is None:
        named = "=NAME, or describe ".join(_DESCRIBED)
        raise BadInput(f"name what to describe: describe my.csv, or describe {named}=NAME")
    path = Path(os.path.abspath(os.path.expanduser(str(file))))
    _check_is_table(path, str(file))
    if to is None:
        print(_draft(path, str(path), target), end="")
        return 0
    stem = Path(path.stem).stem if path.suffix.lower() in PACKED else path.stem
    name = re.sub(r"\W+", "_", stem)
    check_name("dataset", name)
    folder = Path(os.path.expanduser(str(to)))
    draft = folder / "dataset" / f"{name}.yaml"
    text = _draft(path, os.path.relpath(path, draft.parent), target)
    write_new_file(draft, text)
    print(draft)
    algorithm = "thrifty_regressor" if re.search("^task: regression", text, flags=re.MULTILINE) else "thrifty"
    print_to_stderr(f"{PROGRAM} --config-dir {folder} dataset={name} algorithm={algorithm} epsilon=1 runs it")
    return 0


def _check_is_table(path: Path, name: str) -> None:
    """Refuse the name of something that is in the catalogue, and no file."""
    if os.path.exists(path):
        return
    for group in _DESCRIBED:
        if search_path.find_file(CONF / group, name):
            raise BadInput(f"{name} is not there; describe {group}={name} says what that is")


def _draft(path: Path, shown: str, target: object) -> str:
    if shown.encode(errors="replace") != shown.encode(errors="surrogatepass"):
        raise BadInput(f"{show_path(shown)}: a name that is not in UTF-8 cannot stand in a YAML file: rename it")
    from datasets.draft import format_draft  # with pandas, as all that reads tables
    from datasets.own_tables import own_file

    try:
        form = own_file.guess_form(path)
        frame, sheets = own_file.read_file(path, form), own_file.name_sheets(path)
    except UnreadableFile as error:
        raise BadInput(str(error)) from error
    try:
        return format_draft(frame, shown, None if target is None else str(target), form, sheets)
    except ValueError as error:
        where = f" ({sheets})" if sheets else ""
        raise BadInput(f"{show_path(path.name)}{where}: {error}") from error
