"""Exact statements of papers: theorems and printed formulas, one function each, decided by computing and not by runs.

A claim of kind ``exact`` names one as ``module.function``, a printed number of ``statistic = formula`` another.
"""
