"""Trees that ask for one category of a column against all others: the rivals that PrivaTree is compared with."""
