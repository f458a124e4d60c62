"""What fitted models said of their privacy, as a reader sees it, with what an audit says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from algorithms.accounting.faults import CLAIMS_ONLY
from experiments.audit.private_as_claimed import find_account_sign
from experiments.config.finding import AccountSign, AnySign, Sign
from experiments.config.paper import Paper
from experiments.store.long_table import is_claim_only
from plots.audits import list_bounds
from plots.labels import SYMBOLS, label_name

_ROUNDING = 1e-9


def describe_privacy(paper: Paper, row: Mapping[str, Any], audit: pd.DataFrame) -> dict[str, Any]:
    """Return a row of `sum_up_privacy` as it is read, with what the audit measured of the algorithm."""
    sign = find_account_sign(row, audit)
    return {
        "algorithm": label_name(paper, row["algorithm"]),
        "sound": CLAIMS_ONLY.name if is_claim_only(row) else _SOUND[sign],
        "paid": _format_times_label(row["times_label"]),
        "neighbours": ", ".join(row["neighbours"]),
        "faults": row["faults"],
        "measured": list_bounds(audit, row["algorithm"]),
    }


_SOUND: dict[AnySign | None, str] = {
    Sign.HOLDS: "yes",
    Sign.FAILS: "no",
    AccountSign.UNAUDITED: f"{SYMBOLS[AccountSign.UNAUDITED]} {AccountSign.UNAUDITED}",
    None: "claims no ε",
}


def describe_data_faults(paper: Paper, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why no account strictly holds on some data sets, a text for each."""
    faults = [fault for row in rows for fault in row.get("data_faults", {}).items()]
    return list(dict.fromkeys(f"on {label_name(paper, name)} {'; '.join(reasons)}" for name, reasons in faults))


def _format_times_label(times: float | None) -> str:
    """Return what an algorithm accounts for, beside the ε that it claims; nothing where it claims none.

    >>> _format_times_label(1.0), _format_times_label(1.89), _format_times_label(math.inf), _format_times_label(None)
    ('the claimed ε', 'up to 1.89 × the claimed ε', 'no finite ε', '')
    """
    if times is None:
        return ""
    if math.isinf(times):
        return "no finite ε"
    return "the claimed ε" if times <= 1 + _ROUNDING else f"up to {times:.3g} × the claimed ε"
