"""The report, the summary on the terminal and the published pages, each written from runs alone."""
