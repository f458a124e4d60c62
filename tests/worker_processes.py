"""Worker processes of a command, found where Linux lists processes: children of the server that forks them."""

from pathlib import Path


def find_workers(command):
    """Return the numbers of the processes that run cells for the command with a number."""
    return [worker for server in _find_children(command, b"forkserver") for worker in _find_children(server)]


def _find_children(parent, word=b""):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words, status = (folder / "cmdline").read_bytes(), (folder / "status").read_text()
        except OSError:  # it has ended meanwhile
            continue
        if word in words and f"PPid:\t{parent}\n" in status:
            found.append(int(folder.name))
    return found
