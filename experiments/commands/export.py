"""``do=export``: the store as one Parquet file, or as a folder of runs as MLflow has it."""

from __future__ import annotations

from algorithms.installation import resolve_path
from experiments.errors import BadInput, print_to_stderr, require_utf_8
from experiments.request import SweepRequest
from experiments.store.database import Store
from experiments.store.exports.mlruns import write_mlruns
from experiments.store.exports.parquet import write_parquet


def run_command(request: SweepRequest) -> int:
    """Export a store; returns the exit code."""
    path = request.results_folder / "store.sqlite"
    if not path.is_file():
        raise BadInput(f"{path} is not there: nothing has run with results={request.config['results']}")
    is_folder = request.config["mlruns"] is not None
    target = resolve_path(str(request.config["mlruns" if is_folder else "file"]))
    require_utf_8(target)
    with Store(path) as store:
        write = write_mlruns if is_folder else write_parquet
        n_cells, n_left_out = write(store, target, request.read_flag("outdated"))
    left_out = f"; {n_left_out:,} of other code, data or libraries are left out: outdated=true writes them, too"
    print_to_stderr(f"{n_cells:,} cells{left_out if n_left_out else ''}")
    return 0
