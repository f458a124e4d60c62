"""What the processes of a test run share: a folder that the first of them makes."""

import fcntl
import os


def once_for_all_workers(tmp_path_factory, name, make):
    """Return a folder of this run that a function fills once; whoever else asks for it waits.

    Parameters
    ----------
    tmp_path_factory : TempPathFactory
        Of pytest, whose folder for the run is the parent of the folders of its workers.
    name : str
        Of the folder.
    make : callable
        Called with the empty folder.
    """
    own = tmp_path_factory.getbasetemp()
    root = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, made = root / name, root / f"{name}.made"
    with open(root / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
