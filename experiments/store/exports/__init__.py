"""A store in the formats of other programs."""
