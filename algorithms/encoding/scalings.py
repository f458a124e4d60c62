"""Names of the public scalings of a regression: what trains one and what is released of it both know these."""

SCALINGS = ("box", "unit", "ball", "signed_ball")
IN_BALL = ("ball", "signed_ball")
"""Those that no row is longer than 1 in."""
SIGNED_TARGET = ("box", "signed_ball")
"""Those that map the target to [-1, 1]."""
