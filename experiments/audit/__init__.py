"""The audit: does an algorithm keep the ε that it claims? The algorithm itself is examined, not its privacy ledger.

Rooms, in the order of their imports (each imports only what stands above it):

- `outcomes`: bounds of ε from counts, each as a row, and what it says of a claim;
- `subjects`: the estimators that are audited; `plain_python`: processes without compilation, to follow calls in;
- `neighbouring_tables`, `table_templates`: pairs of tables, built or searched for;
- `laws`: closed-form laws of the discrete mechanisms, and the worst case of each over all small tables;
- `observe`: trains an algorithm many times on one table, and notes what is seen of each model as codes and numbers;
- `replay`: records the mechanism calls of one training run, plays them on a neighbouring table, and sums exact losses;
- `attacks`: looks for events whose probabilities are farther apart than e^ε allows, and guesses canaries;
- `report`: all results, and what they say together of each algorithm, as text and as files;
- `of_runs`: what audits say of what was run; `private_as_claimed`: whether that keeps the ε that it claims;
- `audit_tasks`: what is asked for, and what is trained for it; `hunt` searches for pairs of tables.
"""
