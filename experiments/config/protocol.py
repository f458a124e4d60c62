"""The protocol: which rows of a run take part, which of them test, and what is measured of them.

Each option is declared once, here: its type, its choices, its default, what goes with it, what it does, and by its
marks what it is part of. Files and the command line are checked by this declaration alone; what needs the data set is
checked where a cell is made, in `cells.grid`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from documents.document import Document, parse_document
from experiments.config.setting import keep_entries
from experiments.errors import BadInput


class Mark(Enum):
    """What an option is part of.

    An option without a mark is part of a cell's identity where it differs from its default: whoever adds one leaves the
    seeds of published results alone.
    """

    ALWAYS = "part of the identity at its default, too, as it was there when the first results were published"
    MEASURED = "says what else is measured of the same run: part of the key, not of the identity"
    SPLIT = "says which rows are training rows and which are test rows"


def _read_size(size: Any) -> Any:
    """Refuse what is no size in one sentence, where pydantic has one for each type that it may have."""
    numbers = size.values() if isinstance(size, Mapping) else [size]
    if set(map(type, numbers)) != {int} or min(numbers) < 1:
        raise ValueError(f"write a number of rows, or one for each class as in {{unacc:1000,acc:300}}; got {size!r}")
    if not isinstance(size, Mapping):
        return size
    return {str(label): n for label, n in size.items()}  # YAML has numbers as keys


Size = Annotated[int | dict[str, int], BeforeValidator(_read_size)]
"""A number of rows, or of the rows of each class that takes part."""


class Protocol(Document):
    """How a cell's rows are split and which rows are evaluated; what is left out has its default."""

    test_size: Annotated[float, Field(gt=0, lt=1), Mark.ALWAYS, Mark.SPLIT] = 0.3
    """Share of test rows where a data set has no official split."""
    evaluate_on: Annotated[Literal["test", "train", "folds"], Mark.ALWAYS] = "test"
    """Which rows the metrics are measured on. ``folds``: the training rows, by 10-fold cross-validation."""
    rows: Annotated[Literal["all", "balanced"], Mark.SPLIT] = "all"
    """``balanced``: as many rows of each class as the smallest class has, drawn anew in each repeat."""
    split: Annotated[Literal["random", "in_order"], Mark.SPLIT] = "random"
    """``in_order``: the last rows of the table are the test rows, as befits a time series."""
    train_rows: Annotated[Size | None, Mark.SPLIT] = None
    """Number of training rows, or of rows of each class that takes part; needs ``test_rows`` beside it."""
    test_rows: Annotated[Size | None, Mark.SPLIT] = None
    """Number of test rows, or of rows of each class that takes part."""
    draw: Annotated[int, Field(ge=0)] = 0
    """Which draw of the algorithm's randomness on the split of the repeat."""
    common_noise: bool = False
    """Whether all algorithms of a repeat have one seed, whatever their parameters: those that draw alike then have the
    same noise but for its scale."""
    leakage: Annotated[bool, Mark.MEASURED] = False
    """Whether to measure what the rows leak that an algorithm trains on instead of the training rows."""
    folds: Annotated[Annotated[int, Field(ge=2)] | None, Mark.SPLIT] = None
    """Cross-validation: so many folds of all rows, an official split or not. A run is then the mean over the folds of
    one partition, and ``accuracy_se`` the standard error of that mean over folds. Classes are spread evenly; with
    ``split: in_order`` each fold is tested by a model of the rows before it."""
    groups: Annotated[str | None, Mark.SPLIT] = None
    """A column whose equal values stay together: all training rows or all test rows. It is no feature then."""
    ranges: Literal["declared", "training_rows"] = "declared"
    """What algorithms are told of columns of numbers: the bounds that the data set declares, or the smallest and the
    largest value of the training rows, which leaks them: the account of every run then says so."""

    def __hash__(self) -> int:
        # numbers by class are mappings, which have no hash
        return hash((self.test_size, self.rows, self.split, self.folds, self.groups, self.draw))

    def list_changed(self) -> dict[str, Any]:
        """Return the options that differ from their defaults.

        Examples
        --------
        >>> Protocol(rows="balanced", draw=0).list_changed()
        {'rows': 'balanced'}
        """
        return {name: value for name, value in vars(self).items() if value != _DEFAULTS[name]}

    def list_asked(self) -> dict[str, Any]:
        """Return the options that are part of a cell's identity.

        Examples
        --------
        >>> Protocol(rows="balanced", leakage=True).list_asked()
        {'test_size': 0.3, 'evaluate_on': 'test', 'rows': 'balanced'}
        """
        always, never = list_options(Mark.ALWAYS), list_options(Mark.MEASURED)
        asked = {}
        for name, value in vars(self).items():
            if name in always or (value != _DEFAULTS[name] and name not in never):
                asked[name] = value
        return asked

    def select(self, mark: Mark) -> dict[str, Any]:
        """Return the options that have a mark.

        Examples
        --------
        >>> Protocol(leakage=True).select(Mark.MEASURED)
        {'leakage': True}
        """
        return keep_entries(vars(self), list_options(mark))

    def of_split(self) -> Protocol:
        """Return the protocol with the defaults of all that does not split rows: equal ones split them alike.

        Examples
        --------
        >>> Protocol(folds=5, draw=3).of_split() == Protocol(folds=5)
        True
        """
        return Protocol(**self.select(Mark.SPLIT))

    def without_unused(self) -> Protocol:
        """Return the protocol as cells have it: a share of test rows that means nothing does not tell cells apart.

        Examples
        --------
        >>> Protocol(folds=5, test_size=0.5).without_unused() == Protocol(folds=5)
        True
        """
        usual, is_used = _DEFAULTS["test_size"], self.train_rows is None and self.folds is None
        return self if is_used or self.test_size == usual else self.replaced(test_size=usual)

    def is_fixed(self, has_official_split: bool) -> bool:
        """Return whether all repeats have one split: the official one, or one in order.

        Examples
        --------
        >>> Protocol().is_fixed(True), Protocol(train_rows=6000, test_rows=3000).is_fixed(True)
        (True, False)
        >>> Protocol(folds=5).is_fixed(True)
        False
        """
        if self.train_rows is not None:
            return False
        is_in_order = self.split == "in_order" and self.rows == "all"
        return is_in_order or (has_official_split and self.folds is None)

    @model_validator(mode="after")
    def _check_together(self) -> Protocol:
        sizes = self.train_rows, self.test_rows
        train, test = (set(size) if isinstance(size, dict) else type(size) for size in sizes)
        if train != test:
            both = "train_rows and test_rows must both be numbers of rows, or both name the same classes"
            raise ValueError(f"{both}; got {sizes[0]!r} and {sizes[1]!r}")
        if self.folds is not None and self.evaluate_on == "folds":
            raise ValueError("folds tests on the rows that were left out: leave out evaluate_on=folds")
        if self.groups is not None and self.split == "in_order":
            raise ValueError("groups does not go with split=in_order: rows are split by one of the two")
        if self.train_rows is not None:
            for name, value in self.list_changed().items():
                if name in ("rows", "split", "folds", "groups"):
                    raise ValueError(f"{name}={value} does not go with numbers of rows")
        return self


DEFAULT_PROTOCOL = Protocol()
_DEFAULTS = vars(DEFAULT_PROTOCOL)


@cache
def list_options(mark: Mark) -> tuple[str, ...]:
    """Return the options that have a mark.

    Examples
    --------
    >>> list_options(Mark.MEASURED)
    ('leakage',)
    """
    return tuple(name for name, option in Protocol.model_fields.items() if mark in option.metadata)


def read_protocol(options: Mapping[str, Any], where: str = "protocol") -> Protocol:
    """Return the protocol of some options as cells have it; BadInput says ``where`` one is unknown or impossible.

    Examples
    --------
    >>> read_protocol({"rows": "some"})
    Traceback (most recent call last):
    experiments.errors.BadInput: protocol.rows: input should be 'all' or 'balanced', got 'some'
    """
    try:
        return parse_document(Protocol, options, place=(where,)).without_unused()
    except ValueError as error:
        raise BadInput(str(error)) from None
