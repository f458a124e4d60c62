"""Tables of one's own: files of every kind, read cell by cell or as columns, checked, and kept."""
