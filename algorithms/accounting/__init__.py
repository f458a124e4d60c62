"""The account of a fit: what each step cost, which steps break the claim, and what its noise protects against."""
