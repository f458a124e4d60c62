"""Worker processes of a command, found where Linux lists processes: children of its child, the server of workers."""

from pathlib import Path


def find_workers(command):
    """Return the numbers of the processes that run cells for the command with a number."""
    parents = {int(folder.name): _find_parent(folder) for folder in Path("/proc").glob("[0-9]*")}
    return [number for number, server in parents.items() if parents.get(server) == command]


def _find_parent(folder):
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended meanwhile
        return None


def is_running(process):
    """Return whether a process has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
