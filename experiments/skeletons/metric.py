"""NAME: a metric of my own. Write what it measures here."""

import numpy as np


def measure_NAME(actual, predicted):
    """Return the geometric mean of the recalls of all classes: 0 as soon as one class is never found.

    Parameters
    ----------
    actual, predicted : array of shape (n,)
        The classes of the test rows, and those that were predicted.
    """
    recalls = [np.mean(predicted[actual == label] == label) for label in np.unique(actual)]
    return float(np.prod(recalls) ** (1 / len(recalls)))
