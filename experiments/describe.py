"""``python -m experiments.describe my.csv``: the same as ``python -m experiments describe my.csv``."""

import sys

if __name__ == "__main__":
    from experiments.__main__ import main

    sys.argv.insert(1, "describe")
    main()
