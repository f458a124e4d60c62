"""Which lines of code a fault is in: the step of the algorithm itself, and what adds it to the account.

Steps are named by their code, that of Python where a kernel exists in C++, too: lines are looked for, so none is typed.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

import algorithms
from algorithms.accounting import faults
from algorithms.accounting.faults import Fault
from experiments.catalogue.places import Place
from experiments.config import estimators

_BOOTSTRAP = ("forests/forest.py", "rng.integers(0, max(n_rows, 1), size=n_rows)")
_INTERVAL_ENDS = ("forests/engine/intervals.py", "intervals.append((feature, present[j], levels[j], levels[j + 1]))")
_STEPS: Mapping[Fault, tuple[str, str]] = {
    faults.DIFFPETS_EXACT_STOP: ("forests/diffpets.py", "or is_settled(growth"),
    faults.DIFFPETS_CUTS_FROM_ROWS: ("forests/diffpets.py", "code = draw_present_code("),
    faults.DIFFPETS_UNUSED_COUNT: ("forests/diffpets.py", "node.noisy_count = laplace("),
    faults.DIFFPETS_BOOTSTRAP: _BOOTSTRAP,
    faults.DIFFPETS_EXACT_LEAVES: ("forests/diffpets.py", "leaf_epsilon=epsilon if self.leaf =="),
    faults.DIFFPETS_SENSITIVITY_FROM_ROWS: ("forests/diffpets.py", "sensitivity=self._printed_sensitivity("),
    faults.DIFFPETS_GAIN_SENSITIVITY: ("forests/diffpets.py", "return math.log(n_rows + 1)"),
    faults.RFDPP_EXACT_PURITY: ("forests/rfdpp_gini.py", "if not is_pure_enough("),
    faults.RFDPP_EXACT_COMPARISON: ("forests/rfdpp_gini.py", "if scores[j] > best.score"),
    faults.RFDPP_EXACT_NOMINAL_SPLITS: ("forests/rfdpp_gini.py", "scores, codes = nominal_scores("),
    faults.RFDPP_EXACT_THRESHOLD: ("forests/rfdpp_gini.py", "side_score(GINI, counts) < min_gini"),
    faults.RFDPP_SENSITIVITY_FROM_ROWS: ("forests/rfdpp_gini.py", "sensitivity=score_sensitivity("),
    faults.RFDPP_INTERVAL_ENDS: _INTERVAL_ENDS,
    faults.RFDPP_BOOTSTRAP: _BOOTSTRAP,
    faults.RFDPP_UNUSED_COUNT: ("forests/rfdpp_gini.py", "node.noisy_count = laplace("),
    faults.RFDPP_EXACT_LEAVES: ("forests/rfdpp_gini.py", "leaf_epsilon={"),
    faults.RFDPP_BUDGET_SPENT_TWICE: ("forests/rfdpp_gini.py", "else float(self.epsilon)"),
    faults.DIFFPRFS_BOOTSTRAP: _BOOTSTRAP,
    faults.DIFFPRFS_INTERVAL_ENDS: _INTERVAL_ENDS,
    faults.DIFFPRFS_SENSITIVITY_FROM_ROWS: ("forests/diffprfs.py", "sensitivity=score_sensitivity(score, n_rows)"),
    faults.DIFFPRF_EXACT_CHOICES: ("forests/diffprf.py", "split_epsilon=exact"),
    faults.PFDPDT_EXACT_PURITY: ("forests/edprf.py", "is_pure(counts)"),
    faults.EDPRF_BOOTSTRAP: _BOOTSTRAP,
    faults.RDT_HEIGHT_FROM_ROWS: ("forests/rdt.py", "or own_height("),
    faults.PRIVATREE_BUDGET_FROM_ROWS: ("forests/privatree.py", "share_budget(plan, float(rows.shape[0]))"),
    faults.PRIVATREE_SENSITIVITY_OF_A_COUNT: ("forests/privatree.py", "mean_gini_sensitivity(node.noisy_count)"),
    faults.PRIVATREE_BUDGET_SPENT_TWICE: ("forests/privatree.py", "add_noise(counts, epsilon, rng)"),
    faults.PRIVATREE_QUANTILES: ("forests/privatree.py", "np.quantile(values"),
    faults.PRIVATREE_EXACT_STOP: ("forests/privatree.py", "not is_pure(counts)"),
    faults.BDPT_GROUPS_FROM_ROWS: ("forests/by_category/bdpt.py", "np.unique(values)"),
    faults.BDPT_SENSITIVITY_OF_A_COUNT: ("forests/by_category/bdpt.py", "mean_gini_sensitivity(node.noisy_count)"),
    faults.DPGDF_SENSITIVITY_OF_A_LEAF: ("forests/by_category/dpgdf.py", "math.exp(-lead * epsilon)"),
    faults.TARGET_IN_ITS_OWN_UNIT: ("regression/design.py", 'if self.target_scaling == "declared" else p'),
    faults.CPPPW_RATIO_FROM_ROWS: ("data_replacement/cpppw.py", "= choose_ratio("),
    faults.SCALE_FROM_ROWS: ("data_replacement/sampler.py", "rows.std(axis=0)"),
    faults.copied_rows(""): ("data_replacement/sampler.py", "return rows[self.sample_indices_]"),
    faults.exact_labels(""): ("data_replacement/sampler.py", "labels[self.sample_indices_]"),
}
"""What takes the step, by the fault: a file of ``algorithms``, and code that stands on each line that takes it."""


def list_steps(fault: Fault) -> list[Place]:
    """Return the lines of code that take the step which is a fault; none of a fault that is not of our algorithms.

    Examples
    --------
    >>> [str(place).partition(":")[0] for place in list_steps(faults.RDT_HEIGHT_FROM_ROWS)]
    ['algorithms/forests/rdt.py']
    """
    step = _STEPS.get(fault) or _STEPS.get(replace(fault, source=""))
    if step is None:
        return []
    file, code = Path(algorithms.__path__[0]) / step[0], step[1]
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    return [Place(file, number) for number, line in lines if code in line]


def list_confessions(algorithm: str, fault: Fault) -> list[Place]:
    """Return the lines of an algorithm's code that add a fault to its account; none if today's code does not.

    BadInput if there is no such algorithm.

    Examples
    --------
    >>> [str(place).partition(":")[0] for place in list_confessions("rdt", faults.RDT_HEIGHT_FROM_ROWS)]
    ['algorithms/forests/rdt.py']
    """
    cls = estimators.import_class(estimators.find_target(algorithm))
    for module in dict.fromkeys(base.__module__ for base in cls.__mro__ if base is not object):
        names = list(_list_names(sys.modules[module], fault))
        file = inspect.getsourcefile(sys.modules[module]) if names else None
        if file:
            lines = {line for name in names for line in _list_uses(Path(file)).get(name, ())}
            if lines:
                return [Place(Path(file), line) for line in sorted(lines)]
    return []


def _list_names(module: ModuleType, fault: Fault) -> Iterator[str]:
    """Yield what a module calls a fault: a name of its own or of the list of faults, or a function that makes it."""
    for scope in (module, faults) if faults in vars(module).values() else (module,):
        for name, value in vars(scope).items():
            is_maker = inspect.isfunction(value) and [*inspect.signature(value).parameters] == ["source"]
            if value == fault or (is_maker and value(fault.source) == fault):
                yield name


@cache
def _list_uses(file: Path) -> Mapping[str, frozenset[int]]:
    """Return the lines of a file that use a name, by the name: none that imports or defines it."""
    uses: dict[str, set[int]] = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            uses.setdefault(node.id if isinstance(node, ast.Name) else node.attr, set()).add(node.lineno)
    return {name: frozenset(lines) for name, lines in uses.items()}
