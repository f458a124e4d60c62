"""Whether this code still gives what it gave: bands for watched numbers, and the runs that must stay inside them."""
