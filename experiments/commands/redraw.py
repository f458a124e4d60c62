"""``do=redraw``: the figures of runs drawn anew from the files that hold their numbers. Nothing is run or judged."""

from __future__ import annotations

from functools import partial

from experiments.config.paths import REFERENCE
from experiments.errors import BadInput, print_to_stderr
from experiments.request import SweepRequest
from experiments.run.executors.executor import make_executor
from experiments.run.executors.task_runner import TaskRunner


def run_command(request: SweepRequest) -> int:
    """Draw the runs of some papers, or of all papers and sweeps that are there; returns the exit code."""
    from plots.pages import printed_picture  # matplotlib is slow to import
    from plots.pages.drawings import redraw
    from plots.pages.paper_results import write_page
    from plots.pages.reference_pages import list_published, read_published
    from plots.runs.paper_run import PaperRun
    from plots.sweeps.sweep_folder import draw_sweep, list_sweeps

    results = request.results_folder
    folders = [path.parent for path in sorted(results.glob("paper-*/paper.yaml"))]
    there = {folder.name.removeprefix("paper-"): folder for folder in folders}
    names = request.list_choices("paper") or list(there)
    sweeps = [] if request.list_choices("paper") else list_sweeps(results)
    for name in names:
        if name not in there:
            raise BadInput(f"{results} holds no run of paper {name!r}; it holds: {', '.join(there) or 'none'}")
    if not names and not sweeps:
        raise BadInput(f"{results} holds no run of a paper: run one first, or name a folder with results=FOLDER")
    if (results / f"{printed_picture.NAME}.svg").is_file():
        printed_picture.write_picture(list_published(results), results)
    read = read_published if results.resolve() == REFERENCE else PaperRun.read
    runner = TaskRunner(make_executor(request.config["executor"]))
    for name in names:
        run = read(there[name])
        n_figures = len({path.stem for path in redraw(run, runner)})  # each in several formats
        if (run.folder / "report.html").is_file():
            write_page(run)
        print_to_stderr(f"{run.folder}: {n_figures} figures drawn")
    known = [folder for folder, facts in sweeps if "axes" in facts["sweep"]]  # those of older versions lack them
    for folder, _ in zip(known, runner.run([partial(draw_sweep, folder) for folder in known]), strict=True):
        print_to_stderr(f"{folder}: drawn")
    if len(known) < len(sweeps):
        print_to_stderr(f"sweeps that an older version wrote are left as they are: {len(sweeps) - len(known)}")
    return 0
