"""Who shows the tables and figures of a paper, and the words in which comparisons are shown."""
