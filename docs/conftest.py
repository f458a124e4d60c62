"""What pytest leaves to Sphinx: its settings, and examples, which run when they are imported."""

collect_ignore = ["conf.py", "notebooks.py", "gallery", "auto_gallery"]
