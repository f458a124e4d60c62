"""What tables and figures need of runs: checked before a cell is run, and summed up after."""
