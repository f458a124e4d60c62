"""How results are shown: tables, figures, the report page and the summary on the terminal.

Everything is drawn from the long table and the paper's description alone; see `publish`.
"""

from plots.paper_results import check, publish

__all__ = ["check", "publish"]
