"""Parts of a draft: what its columns look like, and how that is written."""
