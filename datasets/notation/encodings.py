"""From the bytes of a text file to its lines: the encoding, and what separates cells."""

from __future__ import annotations

import codecs
import csv
import re
from itertools import islice

WESTERN = ("cp1252", "latin-1")
"""What text that is not UTF-8 is mostly in; every byte means something in the second."""
SEPARATORS = ",;\t|"

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # begins like the next
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE = 100  # lines
_LEAST_NULS = 0.02  # of all bytes, as in UTF-16 each separator and line end has one: with fewer, text is damaged
_MANY_BYTES = 1 << 20  # which say how the others are to be read


class UnreadableText(ValueError):
    """Bytes are no text in an encoding; the one-line message names the way out."""


def decode_text(content: bytes, encoding: str | None = None) -> str:
    """Return the text of a file: in the encoding that its mark says, or that is named, or else in UTF-8.

    Raises
    ------
    UnreadableText
        If it is no text in that encoding, or there is no such encoding.

    Examples
    --------
    >>> decode_text("café".encode("utf-16")), decode_text(b"caf\\xe9", "cp1252")
    ('café', 'café')
    """
    name = encoding or find_mark(content) or "utf-8"
    try:
        text = content.decode(name).removeprefix("\ufeff")
    except LookupError as error:
        raise UnreadableText(f"there is no encoding {name!r}; there are utf-8, utf-16, cp1252, latin-1, ...") from error
    except UnicodeError as error:
        line = content[: getattr(error, "start", 0)].count(b"\n") + 1
        hint = "write encoding: cp1252 (Western Windows), or whatever it is in" if encoding is None else "name another"
        raise UnreadableText(f"line {line} is no text in {name.upper()}: {hint}, or save it in UTF-8") from error
    if "\0" in text:
        raise UnreadableText(_explain_nul(content, text))
    return text


def _explain_nul(content: bytes, text: str) -> str:
    if wide := _guess_wide(content):
        return f"it has a NUL beside each letter: write encoding: {wide}, or save it in UTF-8"
    if re.search(r"[\x01-\x08\x0e-\x19\x1b-\x1f]", text):
        return "it holds binary data, no text: save it as .csv where it was made"
    line = text[: text.index("\0")].count("\n") + 1
    return f"line {line} has a NUL, which no text has: it is damaged"


def _guess_wide(content: bytes) -> str | None:
    """Return the kind of UTF-16 that text without a mark is in, of which every other byte is mostly NUL; else None."""
    start = content[:_MANY_BYTES]
    n_first, n_second = start[::2].count(b"\0"), start[1::2].count(b"\0")
    if n_first + n_second <= _LEAST_NULS * len(start) or min(n_first, n_second) > max(n_first, n_second) / 10:
        return None
    return "utf-16-le" if n_second > n_first else "utf-16-be"


def take_mark_off(text: str) -> tuple[str | None, str]:
    """Return the separator that Excel's own first line says, if there is one, and the lines below it.

    Examples
    --------
    >>> take_mark_off("sep=;\\na;b\\n"), take_mark_off("a;b\\n")
    ((';', 'a;b\\n'), (None, 'a;b\\n'))
    """
    mark = re.match(r'"?sep=(.)"?[ ;,]*(?:\r\n?|\n)', text, re.IGNORECASE)
    return (mark[1], text[mark.end() :]) if mark else (None, text)


def find_mark(content: bytes) -> str | None:
    """Return the encoding that the first bytes of a file say, if they say one."""
    return next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)


def guess_encoding(content: bytes) -> str | None:
    """Return the encoding to name for a file: None for UTF-8, which is taken anyway.

    Examples
    --------
    >>> guess_encoding("é".encode()), guess_encoding("é".encode("latin-1")), guess_encoding("é".encode("utf-16"))
    (None, 'cp1252', 'utf-16')
    """
    if mark := find_mark(content):
        return None if mark == "utf-8-sig" else mark
    if wide := _guess_wide(content):
        return wide
    for name in ("utf-8", *WESTERN):
        try:
            content.decode(name)
        except UnicodeError:
            continue
        return None if name == "utf-8" else name
    raise AssertionError("latin-1 reads all bytes")


def guess_separator(text: str) -> str:
    """Return what separates cells: what cuts most of the first lines into as many as the header, of these into most.

    Examples
    --------
    >>> guess_separator("class;num\\nyes;5,5\\n"), guess_separator('"a;b;c",d\\n1,2\\n'), guess_separator("one\\n")
    (';', ',', ',')
    """
    lines = list(islice((line for line in text.splitlines() if line.strip()), _SAMPLE))

    def rate(separator: str) -> tuple[bool, float, int]:
        try:
            widths = [len(cells) for cells in csv.reader(lines, delimiter=separator)]
        except csv.Error:
            return False, 0.0, 0
        width = widths[0] if widths else 0
        return width > 1, widths.count(width) / max(1, len(widths)), width

    return max(SEPARATORS, key=rate)
