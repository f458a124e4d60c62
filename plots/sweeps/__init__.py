"""What a sweep gives: a table, a figure and a page, in a folder of its own."""
