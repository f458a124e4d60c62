"""The look of figures: colours, markers, titles, and the files that a figure is written to.

Lines differ in marker, dash and lightness, so that a grey print is as readable as the coloured one. The files are the
same bytes on every run. matplotlib is slow to import: it is imported where something is drawn.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from algorithms.whole_files import write_bytes
from plots.drawing.svg import dress_svg
from plots.formulas import split_formulas
from plots.series import note_shortfall

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

INK, GRID, ALARM, PAPER = "#1f2328", "#d7dce1", "#b42318", "#ffffff"
BETWEEN, SHADE = "#b9c0c8", "#e9ecef"  #: neither of two colours; what lies behind lines
#: Light to dark, lightness falling evenly: the grey order is the order of the values.
SEQUENTIAL = ("#2fa8a0", "#2a91a5", "#2f7aa6", "#3f62a0", "#4c4a93", "#523282", "#511b6b", "#450a4f")
#: Distinct hues of distinct lightness, for things without an order.
QUALITATIVE = ("#0a3d7a", "#d1661f", "#3b9c6d", "#9c4f96", "#7a7a7a", "#b8860b", "#1b9fc0", "#7a1f2b")
#: What colours become where a reader prefers a dark page.
ON_DARK = {
    **{INK: "#e6e9ed", GRID: "#363d46", ALARM: "#ff8a7a", PAPER: "#14171b", BETWEEN: "#4a525c", SHADE: "#22272e"},
    **dict(
        zip(
            (*SEQUENTIAL, *QUALITATIVE),
            (
                *("#8a6fd8", "#7c80dd", "#6e92df", "#62a4dd", "#5fb6d6", "#68c8c8", "#86d9b6", "#b9eaa2"),
                *("#6fa8f0", "#f2a065", "#6fd0a2", "#d79ad2", "#b0b0b0", "#e6c15c", "#6fd3ea", "#e08a96"),
            ),
            strict=True,
        )
    ),
}
MARKERS = ("o", "s", "^", "D", "v", "p", "<", "h")
DASHES = ((), (5, 1.6), (2.2, 1.4), (6, 1.5, 1.5, 1.5), (1, 1.2), (8, 2), (4, 1.2, 1, 1.2, 1, 1.2), (3, 3))
WIDTH = 5.8  #: inches of a figure of a paper, which a phone shows two thirds as wide as it is drawn
_READABLE = 10.5  # points of all text but titles: nine pixels on a phone
MOST_COLUMNS = 2  #: small pictures beside one another, as a phone shows
_GROUP = re.compile(r"line-\d+")
_APART = 12  # pixels between the title and what stands beside it
_ENTRY, _LINE = 0.24, 0.17  # inches of an entry of a legend, and of each further line of it
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": _READABLE,
    "axes.titlesize": "medium",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,  # outlines that printers and publishers take
    "axes.unicode_minus": True,
}


# Of each format what says when and by what a figure was made is left out.
_FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 150},
    "pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
ENDINGS = tuple(_FORMATS)
"""The formats of a figure."""


def draw_figure(name: str, draw: Callable[[], Figure], folder: Path) -> list[Path]:
    """Write a figure as SVG, PNG and PDF to a folder that exists; returns the files."""
    return write_rendered(name, render_figure(name, draw), folder)


def render_figure(name: str, draw: Callable[[], Figure], endings: Iterable[str] = ENDINGS) -> dict[str, bytes]:
    """Return the files of a figure by their endings, which are some of `ENDINGS`.

    It is drawn in here, because what is drawn takes its style when it is made: from matplotlib's own and ours, whatever
    a matplotlibrc of the user says.
    """
    import matplotlib

    files = {ending: BytesIO() for ending in endings}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "svg.hashsalt": name})
        figure = draw()
        _read_formulas(figure)
        for ending, file in files.items():
            given = _FORMATS[ending]
            if ending == "svg":
                given = {"metadata": {**given["metadata"], "Title": _join_lines(figure.get_suptitle()) or name}}
            figure.savefig(file, format=ending, **given)
    written = {ending: file.getvalue() for ending, file in files.items()}
    if "svg" in written:
        svg = written["svg"].decode("utf-8")
        written["svg"] = dress_svg(svg, _describe(figure), ON_DARK).encode("utf-8")
    return written


def _describe(figure: Figure) -> str:
    """Return what stands along the axes of a figure, and what its legend explains."""
    axes = [(one.get_ylabel(), one.get_xlabel()) for one in figure.axes]
    along = dict.fromkeys(_join_lines(" against ".join(filter(None, labels))) for labels in axes)
    legend = [_join_lines(text.get_text()) for one in figure.legends for text in one.get_texts()]
    words = [*filter(None, along), f"Legend: {'; '.join(legend)}" if legend else ""]
    return "".join(f"{text}. " for text in filter(None, words)).strip()


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _read_formulas(figure: Figure) -> None:
    """Let only what has formulas be read as mathematics, in all that is written in a figure."""
    from matplotlib.axis import Axis
    from matplotlib.text import Text
    from matplotlib.ticker import FixedFormatter

    for axis in figure.findobj(Axis):
        formatter = axis.get_major_formatter()
        if isinstance(formatter, FixedFormatter) and any("$" in str(name) for name in formatter.seq):
            axis.get_ticklabels()  # else the names are not at the ticks before these are drawn
    for text in figure.findobj(Text):
        lines = [line for line in text.get_text().split("\n") if "$" in line]  # matplotlib reads each by itself
        if any(len(split_formulas(line)) == 1 for line in lines):
            text.set_parse_math(False)


def write_rendered(name: str, files: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write the files of a figure to a folder that exists; returns their paths."""
    paths = [folder / f"{name}.{ending}" for ending in files]
    for path, content in zip(paths, files.values(), strict=True):
        write_bytes(path, content)
    return paths


def choose_shape(i: int) -> dict[str, Any]:
    """Return marker and dash of thing number ``i``; together with the colours the first 64 differ.

    Examples
    --------
    >>> choose_shape(0)["marker"], choose_shape(8)["marker"]
    ('o', 's')
    """
    turned = i + i // len(MARKERS)
    return {"marker": MARKERS[turned % len(MARKERS)], "dashes": DASHES[turned % len(DASHES)]}


def choose_color(i: int) -> str:
    """Return the colour of thing number ``i`` of some without an order."""
    return QUALITATIVE[i % len(QUALITATIVE)]


def make_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def make_grid(n_pictures: int, most_columns: int = MOST_COLUMNS) -> tuple[Figure, np.ndarray]:
    """Return an empty figure with room for some small pictures and a legend, and their axes in rows and columns."""
    n_columns = min(most_columns, n_pictures)
    n_rows = math.ceil(n_pictures / n_columns)
    drawn = make_figure(WIDTH, 2.4 + 2.4 * n_rows)
    return drawn, drawn.subplots(n_rows, n_columns, squeeze=False)


def make_key(label: str, **look: Any) -> Line2D:
    """Return an entry of a legend: what a line or marker of some look stands for."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def make_patch(label: str, color: str) -> Patch:
    """Return an entry of a legend: what a colour stands for."""
    from matplotlib.patches import Patch

    return Patch(color=color, label=label)


def dress_axes(axes: Axes, grid: Literal["both", "x", "y"] = "both") -> None:
    """Draw a grid along ``x``, ``y`` or ``both`` axes, behind everything else, and no frame above and at the right."""
    axes.grid(axis=grid, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    hide_frame(axes)


def hide_frame(axes: Axes) -> None:
    """Draw no frame above and at the right."""
    axes.spines[["top", "right"]].set_visible(False)


def write_above(axes: Axes, text: str, points: float, **look: Any) -> None:
    """Write text so many points above the left end of a picture."""
    place: dict[str, Any] = {"xy": (0, 1), "xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, xytext=(0, points), **place, **look)


def write_note(axes: Axes, note: str, pad: float | None = None) -> None:
    """Write above the axes what is missing; nothing if nothing is."""
    if note:
        axes.set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM, pad=pad)


def write_shortfall(axes: Axes, frame: pd.DataFrame, pad: float | None = None) -> None:
    """Say above the axes what is missing of a figure, if anything is."""
    write_note(axes, note_shortfall(frame), pad)


def add_legend(figure: Figure, loc: str = "outside lower left", **given: Any) -> None:
    """Add a legend outside of the axes: of ``handles``, or of all that has a label.

    The entry of a handle with a group, see `group_line`, is of that group, too.
    """
    look: dict[str, Any] = {"loc": loc, "frameon": False, **given}
    legend = figure.legend(**look)
    for handle, drawn, text in zip(look.get("handles", ()), legend.legend_handles, legend.get_texts(), strict=False):
        if found := _GROUP.match(handle.get_gid() or ""):
            drawn.set_gid(f"{found[0]}-key")  # type: ignore[union-attr]  # none is missing
            text.set_gid(f"{found[0]}-text")


def add_legend_below(figure: Figure, handles: Sequence[Artist], **given: Any) -> None:
    """Add a legend below the axes of a usual figure, which grows by as much as the legend takes."""
    columns = choose_columns(handles)
    heights = [_ENTRY + _LINE * str(handle.get_label()).count("\n") for handle in handles]
    of_columns = np.array_split(heights, columns)
    figure.set_figheight(figure.get_figheight() + max(map(sum, of_columns)) + _ENTRY * ("title" in given))
    add_legend(figure, handles=handles, ncols=columns, **given)


def group_line(i: int, artists: Iterable[Artist]) -> None:
    """Mark what is drawn of line number ``i``: a page hides all of it when a reader clicks on its entry in the legend.

    Its handle in the legend is one of the artists. The ids of elements in the SVG are ``line-<i>-<picture>-<number>``,
    ``line-<i>-key`` and ``line-<i>-text``.
    """
    for artist in artists:
        axes = artist.axes
        if axes is None:  # a handle that is drawn in the legend alone
            artist.set_gid(f"line-{i}")
            continue
        pictures: list[Any] = list(axes.figure.axes)
        picture, prefix = pictures.index(axes), f"line-{i}-"
        number = sum((child.get_gid() or "").startswith(prefix) for child in axes.get_children())
        artist.set_gid(f"{prefix}{picture}-{number}")


def choose_columns(handles: Iterable[Artist]) -> int:
    """Return how many columns the legend below a usual figure has, by its longest line."""
    texts = [str(handle.get_label()) for handle in handles]
    longest = max((len(line) for text in texts for line in text.split("\n")), default=0)
    return 3 if longest <= 13 else 2 if longest <= 27 else 1


def write_title(figure: Figure, axes: Axes, title: str) -> None:
    """Write the title, in as many lines as it takes to stay left of the legend, that is, above the axes."""
    title = _tie_words(title)
    text = figure.suptitle(title, x=0.01, ha="left", fontsize=12.5, fontweight="bold")
    _read_formulas(figure)
    figure.draw_without_rendering()  # lays out legend and axes; only then is the right edge of the axes known
    for width in range(len(title) - 1, 0, -1):
        if text.get_window_extent().x1 <= axes.get_window_extent().x1 - _APART:
            return
        text.set_text(textwrap.fill(title, width, break_long_words=False, break_on_hyphens=False))


def _tie_words(title: str) -> str:
    """Return a title with spaces that do not break where a line would begin with an equals sign or with a few letters.

    >>> _tie_words("Accuracy on Adult, ε = 1, of Table 2").replace("\u00a0", "_")
    'Accuracy on Adult, ε_=_1, of Table_2'
    """
    return re.sub(r" (?=\S{1,3}$)", "\u00a0", title.replace(" = ", "\u00a0=\u00a0"))
