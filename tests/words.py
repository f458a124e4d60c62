"""Count what a reader reads of a Markdown page."""

import re


def list_words(page: str) -> list[str]:
    """Return the words and numbers of a page: no comments, addresses, drawings or signs."""
    text = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("<br>", " ")
    return [word for word in text.split() if re.search(r"\w", word)]
