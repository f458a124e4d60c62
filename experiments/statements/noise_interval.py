"""The measure of privacy of added noise: an interval of the value (paper 5, 3.2.4; Agrawal and Srikant, 2000)."""

from __future__ import annotations

from scipy.stats import norm

from experiments.statements.finding import Finding


def interval_holds_value(per_cent: float, half_width: float) -> Finding:
    """Decide whether x ± ``half_width`` σ holds the original value with so many per cent, as whole as that is printed.

    Around a value with noise of N(0, σ²) the original one lies within a distance of t σ with the chance 2 Φ(t) - 1.
    """
    chance = 100 * float(2 * norm.cdf(half_width) - 1)
    exact = float(norm.ppf((1 + per_cent / 100) / 2))
    said = f"{chance:.2f} %; exactly {per_cent:g} % are within ±{exact:.4f} σ, {2 * exact:.3f} σ wide"
    return Finding(round(chance) == per_cent, said)
