"""Dollar signs in names: a formula in figures and in LaTeX, or a sign of money; and whose settings figures follow."""

import re

import pytest

from plots import style
from plots.formulas import split_formulas
from plots.text_table import format_latex, format_mean

MONEY = [
    r"$\badcmd{$",
    "$$",
    "A$$AP",
    "price_$ & cost_$",
    "US$ vs. C$",
    "($5, $6_a^b)",
    "Revenue ($K), 50% and more ($M)",
    "($K/$M)",
    "US$5 and US$6",
    r"$x$ for $5",
]
FORMULAS = [r"$\varepsilon$", "at $x_1$, $x_2$", r"($\frac{1}{2}$)", "$k = 3$"]


def draw(label):
    """Return a figure with a label wherever one may stand."""
    figure = style.make_figure(9, 4)
    axes = figure.add_subplot()
    axes.plot([0, 1], label=label)
    axes.set_xticks([0, 1], [label, r"$\varepsilon$"])
    style.add_legend(figure, title=label)
    style.write_title(figure, axes, label)
    return figure


@pytest.mark.parametrize("label", MONEY)
def test_a_dollar_sign_that_begins_no_formula_is_drawn_and_set_as_it_is(label):
    from matplotlib.text import Text

    drawn = []
    style.render_figure("figure", lambda: drawn.append(draw(label)) or drawn[0], ("svg",))
    is_formula = {text.get_text().replace("\n", " "): text.get_parse_math() for text in drawn[0].findobj(Text)}
    assert is_formula[label] is False and is_formula[r"$\varepsilon$"] is True
    entry = format_latex("", ["a"], [[label]], "").splitlines()[6].removesuffix(r" \\")
    bare = re.sub(r"\\textbackslash\{\}|\\textasciicircum\{\}|\\[$%&_{}]", "", entry)
    assert not set(bare) & set("$%&_{}^\\"), entry


@pytest.mark.parametrize("label", FORMULAS)
def test_a_formula_is_one_in_figures_and_in_latex(label):
    assert len(split_formulas(label)) > 1
    style.render_figure("figure", lambda: draw(label), ("svg",))
    assert format_latex("", ["a"], [[label]], "").splitlines()[6] == rf"{label} \\"


def test_money_and_formulas_are_drawn_in_all_formats():
    for label in (r"$\badcmd{$", r"($\frac{1}{2}$)"):
        assert all(style.render_figure("figure", lambda label=label: draw(label)).values())


def test_what_means_something_to_latex_is_escaped_and_what_is_latex_is_not():
    latex = format_latex("T", ["a_b {50%} ~ ^ # ε", "b"], [["x", format_mean("1", "± 2")]], "")
    assert r"a\_b \{50\%\} \textasciitilde{} \textasciicircum{} \# $\varepsilon$ & b \\" in latex
    assert r"x & $1 \pm 2$ \\" in latex


def test_figures_take_nothing_from_the_settings_of_a_user():
    import matplotlib

    before = style.render_figure("figure", lambda: draw("a"))
    with matplotlib.rc_context({"text.usetex": True, "axes.grid": True, "lines.linewidth": 9, "savefig.pad_inches": 3}):
        assert style.render_figure("figure", lambda: draw("a")) == before
        assert matplotlib.rcParams["lines.linewidth"] == 9
