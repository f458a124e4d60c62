"""Text without a header row: KEEL's ``.dat`` files, and UCI's where they have no header. Columns are taken in order.

Cells stand between commas, blanks or tabs. KEEL's own header, lines that begin with ``@``, has ranges that are the
extremes of the rows; neither it nor anything in it is used.
"""

from io import StringIO
from pathlib import Path

from datasets import table


def read(file):
    """Read one text file, the columns of which are those of the domain, the target last.

    Examples
    --------
    >>> from io import BytesIO
    >>> read(BytesIO(b"@relation toy\\n@data\\n1, 2.5, yes\\r\\n3,?,no\\n")).values.tolist()
    [[1, 2.5, 'yes'], [3, nan, 'no']]
    """
    content = Path(file).read_bytes() if isinstance(file, str | Path) else file.read()
    lines = content.decode("utf-8").replace(",", " ").splitlines()
    rows = "\n".join(line for line in lines if not line.startswith("@"))
    return table.read_text(StringIO(rows), sep=r"\s+", header=None)
