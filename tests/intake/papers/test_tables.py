from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.intake.papers.latex_prepare import prepare
from reenact.intake.papers.paper import Algorithm
from reenact.intake.papers.tables import plain_tables

TOKENS = st.sampled_from(
    [
        r"\begin{tabular}{lc}",
        r"\end{tabular}",
        r"\begin{table}[t]",
        r"\end{table}",
        r"a & b \\",
        r"\hline",
        r"\midrule",
        r"\multicolumn{2}{c|}{x}",
        r"\multirow{-3}*{y}",
        r"\makecell{a\\b}",
        "{",
        "}",
        r"\caption{C}",
        r"\label{l}",
        "&",
        r"\\[2pt]",
        r"\begin{algorithm}",
        r"\end{algorithm}",
        r"\resizebox{1}{2}{",
        "words",
        "\n\n",
        r"\appendix",
    ]
)


def rows(text: str) -> list[str]:
    inner = plain_tables(text).split("}\n", 1)[1].split("\\end{tabular}")[0]
    return [row.strip() for row in inner.split("\\\\") if row.strip()]


def test_rules_tell_which_rows_are_headings() -> None:
    ruled = "\\toprule a & b \\\\ c & d \\\\ \\midrule 1 & 2 \\\\"
    assert rows(f"\\begin{{tabular}}{{ll}}{ruled} \\end{{tabular}}") == [
        "ReenactHeads2x a & b",
        "c & d",
        "1 & 2",
    ]
    assert rows("\\begin{tabular}{ll} a & b \\\\ 1 & 2 \\end{tabular}") == [
        "ReenactHeads1x a & b",
        "1 & 2",
    ]


def test_the_widest_row_gives_the_columns() -> None:
    head = "\\begin{tabular}{@{}p{3cm}*{2}{>{\\bf}c}@{}}"
    made = plain_tables(
        f"{head} \\multicolumn{{3}}{{|c|}}{{x}} \\\\ 1 & 2 & 3 \\\\ \\end{{tabular}}"
    )
    assert "\\begin{tabular}{lll}" in made
    assert "\\multicolumn{3}{c}{ReenactHeads1x x}" in made


def test_tables_inside_cells_become_words() -> None:
    text = (
        "\\begin{tabular}{l} \\begin{tabular}{@{}c@{}}a\\\\ b\\end{tabular} \\\\ 1 \\end{tabular}"
    )
    assert rows(text)[0].split() == ["ReenactHeads1x", "a", "b"]


def test_algorithms_leave_a_marker() -> None:
    made = prepare("A\n\\begin{algorithm}\\caption{C {x}}\\label{l}\\STATE a\\end{algorithm}\nB")
    assert made.text.split() == ["A", "ReenactMarker0Kept", "B"]
    assert made.stored["ReenactMarker0Kept"] == Algorithm(
        caption="C x", label="l", body="\\STATE a"
    )


@given(st.lists(TOKENS, max_size=30))
@settings(max_examples=80)
def test_no_order_of_commands_breaks_the_preparation(tokens: list[str]) -> None:
    text = " ".join(tokens)
    made = prepare(text)
    kept = made.text + " ".join(
        piece.body for piece in made.stored.values() if isinstance(piece, Algorithm)
    )
    assert kept.count("words") <= text.count("words")
    if "\\begin{tabular}" not in tokens and "\\begin{algorithm}" not in tokens:
        assert kept.count("words") == text.count("words")
