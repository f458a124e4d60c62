"""How a claim of a paper is decided: by a rule, which `questions.claims` finds by the class of the claim."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from experiments.config.kinds.claims import Claim
from experiments.config.paper import Paper
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ClaimQuestion, ComputedQuestion

AnyClaim = TypeVar("AnyClaim", bound=Claim)

RULES: dict[type[Claim], type[Rule]] = {}
"""The rules that are imported, by the class of the claims that they decide."""


@dataclass(frozen=True)
class Rule(ABC, Generic[AnyClaim]):
    """How a claim is decided."""

    claim: AnyClaim

    def __init_subclass__(cls, of: type[Claim] | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if of is not None:
            RULES[of] = cls

    @abstractmethod
    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ClaimQuestion | ComputedQuestion:
        """Return what decides the claim; PaperError if it names what the paper does not have."""
