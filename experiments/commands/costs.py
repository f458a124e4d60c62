"""``do=costs``: the seconds and the memory that a fit of each algorithm of a paper takes."""

from __future__ import annotations

from algorithms.whole_files import write_text
from experiments.config.papers import load_paper
from experiments.errors import BadInput, print_to_stderr
from experiments.request import SweepRequest


def run_command(request: SweepRequest) -> int:
    """Measure the fits of some papers; returns the exit code."""
    if not request.list_choices("paper"):
        raise BadInput("choose paper=...: its studies say what is fitted")
    from experiments.speed.costs import measure_costs  # after this check, as what fits is slow to import

    for name in request.list_papers():
        rows = measure_costs(load_paper(name))
        path = request.results_folder / f"paper-{name}" / "costs.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, rows.to_csv(index=False, lineterminator="\n", float_format="%.4g"))
        print_to_stderr(f"  {path}; running the paper again shows it on its page (cells are kept)")
    return 0
