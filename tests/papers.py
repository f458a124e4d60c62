"""Papers made up for tests."""

from experiments.config.paper import Paper, parse_paper

STUDY = {"dataset": "car", "algorithm": "majority"}


def make_paper(**keys) -> Paper:
    """Return a paper with these keys; it has a number, a title and a study if they do not say."""
    return parse_paper({"number": 0, "title": "Made up", "studies": {"floor": STUDY}, **keys})
