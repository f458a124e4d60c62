"""Who decides a claim: a rule, found by the class of the claim.

The rule of kind ``NAME`` is in the file ``NAME.py`` here; a kind without a file is decided as the class that it
extends, see `experiments.questions.group_claim`. So is one of somebody's own, unless a rule for it stands beside it.
"""

from __future__ import annotations

from importlib import import_module, util
from typing import overload

from experiments.config.kinds import is_built_in, name_kind
from experiments.config.kinds.claims import Claim, ClaimAboutRuns
from experiments.errors import BadInput
from experiments.questions.group_claim import RunsRule
from experiments.questions.rule import RULES, Rule


@overload
def find_rule(claim: ClaimAboutRuns) -> RunsRule: ...
@overload
def find_rule(claim: Claim) -> Rule: ...
def find_rule(claim):
    """Return the rule of a claim; BadInput if its kind is somebody's own and has none."""
    for kind in type(claim).__mro__:
        name = name_kind(kind) if kind not in RULES and is_built_in(kind) else ""
        if name and util.find_spec(f"{__name__}.{name}"):
            import_module(f"{__name__}.{name}")
        if kind in RULES:
            return RULES[kind](claim)
    raise BadInput(f"the kind {claim.kind!r} has no rule: let {type(claim).__name__} extend a class that has one")
