"""The report on all papers: a front page, a page of all claims, and around them the pages of papers."""
