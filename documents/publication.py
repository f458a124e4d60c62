"""Where a paper was published, in which language, and how much of its text those had who wrote its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from documents.document import Document, ListOf


class Publication(Document):
    """Where a paper was published, and what of its text was at hand."""

    authors: ListOf[str]
    """All authors, each as "Family, Given"."""
    title: str
    """Its title in English, as the journal has it."""
    venue: str
    """The journal, conference or archive."""
    year: int
    """The year of the volume."""
    volume: int | None = None
    """The volume."""
    issue: int | None = None
    """The issue."""
    pages: Annotated[str, StringConstraints(pattern=r"^\d+(-\d+)?$")] | None = None
    """Pages, as ``93-101``."""
    doi: Annotated[str, StringConstraints(pattern=r"^10\.\d{4,}/\S+$")] | None = None
    """Its DOI; left out where none is known."""
    url: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")] | None = None
    """An address at which it is described or can be read; needed where no DOI is known."""
    language: str
    """The language of the text."""
    text_at_hand: Annotated[str, Field(min_length=1)]
    """Which part of the text, in which form, its file was written from: a sentence without its full stop."""

    @model_validator(mode="after")
    def _check_can_be_found(self) -> Publication:
        if not (self.doi or self.url):
            raise ValueError("write its doi, or the url of a page that describes it")
        return self

    @property
    def place(self) -> str:
        """The venue with volume, issue, pages and year.

        >>> EXAMPLE.place
        'Journal of Examples 3(2), 10-19, 2020'
        """
        issue = f"({self.issue})" if self.issue is not None else ""
        volume = f" {self.volume}{issue}" if self.volume is not None else ""
        pages = f", {self.pages}" if self.pages else ""
        return f"{self.venue}{volume}{pages}, {self.year}"

    @property
    def address(self) -> str:
        """The address that the DOI leads to, or else its own.

        >>> EXAMPLE.address
        'https://doi.org/10.1234/example'
        """
        return f"https://doi.org/{self.doi}" if self.doi else self.url or ""

    def cite(self) -> str:
        """Return the paper as a list of references has it, without its address.

        >>> EXAMPLE.cite()
        'Doe, Jane; Roe, Richard: An Example. Journal of Examples 3(2), 10-19, 2020 (in Chinese)'
        """
        language = "" if self.language == "English" else f" (in {self.language})"
        return f"{'; '.join(self.authors)}: {self.title}. {self.place}{language}"

    def format_bibtex(self) -> str:
        """Return the entry for BibTeX; its key is the first author, the year and the first long word of the title.

        >>> print(EXAMPLE.format_bibtex())
        @article{doe2020example,
          author = {Doe, Jane and Roe, Richard},
          title = {{An Example}},
          journal = {Journal of Examples},
          volume = {3},
          number = {2},
          pages = {10--19},
          year = {2020},
          doi = {10.1234/example},
          note = {In Chinese},
        }
        """
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",  # in braces twice, so that names keep their capitals
            "journal": self.venue,
            "volume": self.volume,
            "number": self.issue,
            "pages": self.pages.replace("-", "--") if self.pages else None,
            "year": self.year,
            "doi": self.doi,
            "url": self.url,
            "note": "" if self.language == "English" else f"In {self.language}",
        }
        family = self.authors[0].partition(",")[0]
        (word, *_) = re.findall(r"\w{4,}", self.title)
        return format_bibtex_entry("article", f"{family}{self.year}{word}".lower(), fields)


def format_bibtex_entry(kind: str, key: str, fields: Mapping[str, object]) -> str:
    """Return an entry of a kind for BibTeX, without the fields that are empty."""
    written = {name: str(value).replace("&", r"\&") for name, value in fields.items() if value}
    lines = [f"  {name} = {{{value}}}," for name, value in written.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


EXAMPLE = Publication(
    authors=("Doe, Jane", "Roe, Richard"),
    title="An Example",
    venue="Journal of Examples",
    year=2020,
    volume=3,
    issue=2,
    pages="10-19",
    doi="10.1234/example",
    language="Chinese",
    text_at_hand="the whole text",
)
"""What examples show."""
