"""``python -m experiments.describe my.csv``: the same as ``dp-replica describe my.csv``."""

import sys

if __name__ == "__main__":
    from experiments.command_line import main
    from experiments.edge import run_process

    sys.argv.insert(1, "describe")
    run_process(main)
