"""``do=hunt``: search for the pairs of tables on which ``do=audit`` can prove most."""

from __future__ import annotations

from experiments.audit.hunt import hunt_pairs
from experiments.audit.table_templates import SEARCHED_PAIRS, keep_entries
from experiments.errors import require_checkout
from experiments.request import SweepRequest


def run_command(request: SweepRequest) -> int:
    """Search for the pairs of the algorithms that are named, or of all sound forests, and keep them."""
    require_checkout("hunt")
    for entry in hunt_pairs(request.list_choices("algorithm"), request.config["executor"]["jobs"]):
        keep_entries([entry])
    print(SEARCHED_PAIRS)
    return 0
