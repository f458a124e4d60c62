"""How results are shown: tables, figures, the report page and the summary on the terminal.

Everything is drawn from the long table and the paper alone; see `plots.pages.paper_results`.
"""
