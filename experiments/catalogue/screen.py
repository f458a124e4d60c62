"""Text for a terminal of 80 columns: fields with a label, and what is too long is cut where a word ends."""

from __future__ import annotations

import re
import textwrap

WIDTH = 80
HEIGHT = 40  #: lines of a screen, about
_LABEL = 11
_SHELL_WORD = re.compile(r"(?:[^\s']|'[^']*')+")
_GOES_ON = " \\"  #: at the end of a line whose command goes on in the next
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(])")


def format_field(label: str, text: str, most_lines: int | None = None) -> list[str]:
    """Return a field as lines: its label, and its text beside it, in whole sentences where it has to be shortened."""
    head = label.ljust(_LABEL)
    return hang_text(head, shorten_text(head, text, most_lines) if most_lines else text, most_lines)


def format_command(label: str, command: str) -> list[str]:
    """Return a command and its label, as lines that a shell reads as one, broken between words, quoted ones whole."""
    head, lines = label.ljust(_LABEL), [""]
    for word in _SHELL_WORD.findall(command):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(head) + len(longer) > WIDTH - len(_GOES_ON) and len(head) + len(command) > WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    joined = f"{_GOES_ON}\n".join([f"{head}{lines[0]}", *(f"{' ' * len(head)}{line}" for line in lines[1:])])
    return joined.split("\n")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text: each ends with a full stop before a capital letter.

    Examples
    --------
    >>> split_sentences("Of i.e. 2.5 trees. The rest.")
    ['Of i.e. 2.5 trees.', 'The rest.']
    """
    return _END.split(text)


def hang_text(head: str, text: str, most_lines: int | None = None) -> list[str]:
    """Return a text as lines behind a head, all of them indented as far; ``…`` stands for what was cut off.

    Examples
    --------
    >>> hang_text("  rdt  ", "random decision trees " * 5, most_lines=1)
    ['  rdt  random decision trees random decision trees random decision trees …']
    """
    lines = textwrap.wrap(text, WIDTH - len(head), break_on_hyphens=False, break_long_words=False) or [""]
    if most_lines is not None and len(lines) > most_lines:
        kept = " ".join(lines[: most_lines - 1])
        cut = textwrap.shorten(" ".join(lines[most_lines - 1 :]), WIDTH - len(head), placeholder=" …")
        lines = [*textwrap.wrap(kept, WIDTH - len(head), break_on_hyphens=False, break_long_words=False), cut]
    first, *rest = lines
    return [f"{head}{first}".rstrip(), *(f"{' ' * len(head)}{line}" for line in rest)]


def shorten_text(head: str, text: str, most_lines: int) -> str:
    """Return as many whole sentences of a text as fit behind a head; the first one in any case.

    Examples
    --------
    >>> shorten_text("  ", "It grows. It ends where the budget does, mostly before all levels are there, I say.", 1)
    'It grows.'
    """
    sentences = split_sentences(text)
    while len(sentences) > 1 and len(hang_text(head, " ".join(sentences))) > most_lines:
        sentences.pop()
    return " ".join(sentences)
