"""Release an objective as the printed regressions do, in one call."""

from algorithms.regression.objective import add_noise, assembled, coefficients


def perturbed(objective, quadratic, linear, rng):
    """Return M and b with Laplace noise on every coefficient, M averaged with its transpose."""
    return assembled(add_noise(*coefficients(objective, quadratic, linear), rng), len(objective.b))
