"""What is kept: every finished cell in one file, and the long table that everything else reads."""
