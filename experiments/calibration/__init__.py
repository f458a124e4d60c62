"""How often the judge is wrong: its error rates, measured by simulation of runs whose truth is known."""
