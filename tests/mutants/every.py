"""All mutants: of the Python, of the C++, and of either where only a large table shows them."""

from __future__ import annotations

from tests.mutants import (
    Mutant,
    of_accounts,
    of_bayes,
    of_forests,
    of_kernels,
    of_mechanisms,
    of_regressions,
    of_tail,
    of_widths,
)

MUTANTS: list[Mutant] = [
    mutant
    for each in (of_mechanisms, of_forests, of_bayes, of_tail, of_regressions, of_accounts)
    for mutant in each.MUTANTS
]
KERNEL_MUTANTS: list[Mutant] = of_kernels.MUTANTS
WIDTH_MUTANTS: list[Mutant] = of_widths.MUTANTS
