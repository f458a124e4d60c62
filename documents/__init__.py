"""YAML files as typed values: every key is known, and every error is named with its file and line."""
