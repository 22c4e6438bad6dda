"""The author's own commands are written out where pandoc cannot follow them, and left alone
elsewhere.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.intake.papers.latex_macros import MOST_GROWN, written_out

OWN = r"""
\newenvironment{scores}[1]{\small\begin{tabular}{#1}}{\end{tabular}}
\newcommand{\scorehead}[2]{\begin{scores}{lc} #1 & #2 \\}
\newcommand{\scoreend}{\end{scores}}
\newcommand{\plainname}{Kettle}
"""
TOKENS = st.sampled_from(
    [
        r"\newcommand{\a}[1]{\begin{x}#1",
        r"\newcommand{\a}[2][d]{\a@b#1\a}",
        r"\newenvironment{e}{\begin{x}}",
        r"{\end{x}}",
        "}",
        "{",
        r"\a",
        r"\a[",
        "]",
        r"\begin{e}",
        r"\end{e}",
        "words",
        "#1",
        "\n",
    ]
)


def test_commands_that_open_and_close_a_table() -> None:
    text, _ = written_out(OWN + r"\scorehead{Pot}{Hum} a & 1 \\ \scoreend \plainname")
    assert text.split() == [
        r"\newcommand{\plainname}{Kettle}",
        r"\small\begin{tabular}{lc}",
        "Pot",
        "&",
        "Hum",
        "\\\\",
        "a",
        "&",
        "1",
        "\\\\",
        r"\end{tabular}",
        r"\plainname",
    ]


def test_a_first_argument_that_may_be_left_out() -> None:
    own = r"\newcommand{\two}[2][c]{\begin{tabular}[#1]{l}#2\end{tabular}}"
    assert written_out(own + r"\two{a}\two[b]{c}")[0] == (
        r"\begin{tabular}[c]{l}a\end{tabular}\begin{tabular}[b]{l}c\end{tabular}"
    )


def test_of_machinery_the_arguments_stay_and_it_is_reported() -> None:
    text, machinery = written_out(
        r"\newcommand{\best}[1]{\best@cut#1\@nil} \best{0.9\pm0.1} \best{all} \best{$x_1$}"
    )
    assert text.split() == [r"\ensuremath{0.9\pm0.1}", "all", "$x_1$"]
    assert machinery == ("best",)


def test_what_is_changed_and_what_is_whole_is_left_to_pandoc() -> None:
    text = (
        r"\renewenvironment{abstract}{\begin{quote}}{\end{quote}} "
        r"\newcommand{\e}{\begin{a}\end{a}} \e"
    )
    assert written_out(text)[0] == text


def test_definitions_that_use_one_another_end() -> None:
    places = "#1" * 1000
    wide = rf"\newcommand{{\x}}[1]{{\begin{{a}}{places}}} \x{{{'y' * 100_000}}}"
    assert len(written_out(wide)[0]) < 2 * MOST_GROWN
    body = r"\x" * 1000
    assert len(written_out(rf"\newcommand{{\x}}{{\begin{{a}}{body}}} \x")[0]) < 3 * MOST_GROWN


@given(st.lists(TOKENS, max_size=30))
@settings(max_examples=80)
def test_no_order_of_definitions_breaks_it(tokens: list[str]) -> None:
    assert written_out(" ".join(tokens))[0] is not None
