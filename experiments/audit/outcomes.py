"""What a lower bound of ε says of a claim: as files name it, and as a reader is told."""

from __future__ import annotations

VIOLATED, TIGHTLY_KEPT, NOT_REFUTED, NOTHING_CLAIMED = "violated", "tight", "not refuted", "nothing claimed"

OUTCOMES = {
    VIOLATED: "broken",
    TIGHTLY_KEPT: "withstood, barely",
    NOT_REFUTED: "withstood",
    NOTHING_CLAIMED: "no ε is claimed",
}
