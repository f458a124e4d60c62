"""What an audit says of a claim: as files name it, and as a reader is told."""

from __future__ import annotations

VIOLATED, TIGHTLY_KEPT, NOT_REFUTED, NOTHING_CLAIMED = "violated", "tight", "not refuted", "nothing claimed"
UNPROVEN, NOT_AUDITED = "unproven", "not audited"

OUTCOMES = {
    VIOLATED: "broken",
    UNPROVEN: "unproven",
    TIGHTLY_KEPT: "withstood, barely",
    NOT_REFUTED: "withstood",
    NOTHING_CLAIMED: "no ε is claimed",
    NOT_AUDITED: "not audited",
}
"""Unproven is what no attack has broken and what its own account, or the replay of it, does not back."""
