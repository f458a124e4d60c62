"""The report of an audit: all results as rows, as text for people, and as files for programs."""
