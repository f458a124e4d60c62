"""What is wrong with a table of one's own: all of it is found before it is refused."""

from __future__ import annotations

from pathlib import Path

from documents.yaml_files import DocumentError, Location, find_lines, name_place

_MOST = 20  # errors that are named


class Faults:
    """The faults of a table, each with the key of the YAML file that it contradicts.

    Parameters
    ----------
    path : Path
        The YAML file.

    Examples
    --------
    >>> faults = Faults(Path("people.yaml"))
    >>> faults.refuse()
    >>> faults.add(("target",), "'apy' is no column")
    >>> faults.add(("file",), "it has no rows")
    >>> ("target",) in faults
    True
    >>> faults.refuse()
    Traceback (most recent call last):
    documents.yaml_files.DocumentError: 2 errors:
      people.yaml: target: 'apy' is no column
      people.yaml: file: it has no rows
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: list[tuple[Location, str]] = []

    def add(self, key: Location, message: str) -> None:
        """Note a fault."""
        self._found.append((key, message))

    def __contains__(self, key: Location) -> bool:
        """Return whether there is a fault at a key."""
        return any(found == key for found, _ in self._found)

    def refuse(self) -> None:
        """Raise a DocumentError with a line for each fault; nothing without any."""
        if not self._found:
            return
        lines = find_lines(self._path)
        said = [f"{name_place(key, lines, self._path)}: {message}" for key, message in self._found]
        if len(said) == 1:
            raise DocumentError(said[0])
        more = [f"and {len(said) - _MOST:,} more"] if len(said) > _MOST else []
        raise DocumentError("\n  ".join([f"{len(said):,} errors:", *said[:_MOST], *more]))
