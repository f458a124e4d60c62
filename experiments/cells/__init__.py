"""The unit of work: one run of one algorithm with one budget on one split of one data set."""
