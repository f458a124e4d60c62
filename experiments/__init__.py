"""How experiments are run: cells, protocol, runner, store, and the verdicts on what comes out."""
