"""What ``import dp_replica as dr`` gives: runs, results, papers and audits from Python, as a notebook needs them.

Each function does what a command of the same name does, by the same code, store and checks: what one of them has run
the other finds. Bad input is a `BadInput`, whose message is the line that the command prints.
"""
