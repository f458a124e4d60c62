"""The report, the summary on the terminal and the published runs, each written from runs alone."""
