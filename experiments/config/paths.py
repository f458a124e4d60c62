"""Where the files are that come with this project."""

from algorithms.installation import ROOT
from documents import search_path

CONF = search_path.BUILT_IN
"""What is run, as YAML; `documents.search_path` knows the folders that a user adds."""
REFERENCE = ROOT / "results" / "reference"
"""Published results, a folder for each paper."""
