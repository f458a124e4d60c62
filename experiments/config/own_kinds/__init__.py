"""Kinds of claims, tables and figures of added folders: a file ``claims/mine.py`` there is the module ``claims.mine``.

A process that is sent an object of such a kind imports it from here, and so looks into the same folders.
"""

from __future__ import annotations

from documents import search_path

__path__ = list(map(str, search_path.list_added()))
