"""How original files are read: one module for each layout, named after its data set where no other has it.

A reader needs

- ``read(*files)``: the original files, in the order of the YAML file, as a DataFrame with any names and types;
- ``tidy_rows(frame)``, if raw rows need more than names, types and missing-value marks (see `datasets.readers.adult`);
- ``original_bytes()`` instead of a file, if rules make its bytes (see `datasets.readers.car`);
- ``rebuild_file(frame)``, where only the original file is pinned: its bytes from the table of a server (see
  `datasets.readers.ihepc`).
"""
