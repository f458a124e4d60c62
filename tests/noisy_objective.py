"""Release an objective as the printed regressions do, in one call."""

from algorithms.regression.objective import add_noise, assemble_coefficients, lay_out_coefficients


def perturbed(objective, quadratic, linear, rng):
    """Return M and b with Laplace noise on every coefficient, M averaged with its transpose."""
    return assemble_coefficients(add_noise(*lay_out_coefficients(objective, quadratic, linear), rng), len(objective.b))
