"""The first 282,636 minutes of IHEPC, 16 December 2006 to 30 June 2007: a part, 13.6 %, under its own name.

Nothing computed on it may be reported as IHEPC. The 3,775 minutes without measurements are left out.
"""

from datasets.ihepc import read

__all__ = ["read"]
