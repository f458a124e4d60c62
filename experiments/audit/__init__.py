"""The audit: does an algorithm keep the ε that it claims? Asked of the algorithm itself, not of its account.

`exact` enumerates the laws of discrete mechanisms, `replay` follows the calls of one training run (on its `tape`) on a
neighbouring table, `blackbox` trains many times on two neighbouring tables (`pairs`) and looks for an event (`events`)
whose probabilities are farther apart than e^ε allows (`bounds`), `one_run` trains once on a paper's own configuration
with records hidden in it.
"""
