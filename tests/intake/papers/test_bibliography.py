from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reenact.intake.papers.bibliography import read_bibitems, read_bibtex
from reenact.intake.papers.latex_macros import detex
from reenact.intake.papers.references import Bibliography, cited_keys, keyed

BIBLATEX = r"""
\entry{he2016}{inproceedings}{}
  \name{author}{2}{}{%
    {{hash=1}{family={He}, familyi={H\bibinitperiod}, given={Kaiming}, giveni={K\bibinitperiod}}}%
    {{hash=2}{family={Zhang}, given={Xiangyu}}}%
  }
  \field{title}{Deep {R}esidual Learning}
  \field{year}{2016}
  \verb{doi}
  \verb 10.1109/CVPR.2016.90
  \endverb
\endentry
"""


def test_bibtex_with_strings_braces_quotes_and_a_broken_entry() -> None:
    text = (
        '@STRING{nips = "NeurIPS"}\n@article{a, title={{Nested {B}races}}, journal = nips # " '
        '30",\n'
        "year=2017,\n"
        "author={M{\\\"u}ller, J{\\'e}r\\^ome and {The Team}}}\n@book{broken, title={no end\n"
        '@misc{b, title="Quoted {"}sign", '
        "howpublished={\\url{https://arxiv.org/abs/1706.03762v5}}}\n"
    )
    a, broken, b = read_bibtex(text)
    assert (a.title, a.authors, a.year) == (
        "Nested Braces",
        ("Jérôme Müller", "The Team"),
        2017,
    )
    assert "NeurIPS 30" in a.text
    assert broken.key == "broken"
    assert (b.title, b.arxiv, b.url) == (
        'Quoted "sign',
        "1706.03762",
        "https://arxiv.org/abs/1706.03762v5",
    )


def test_biblatex() -> None:
    (found,) = read_bibitems(BIBLATEX)
    assert (found.title, found.authors, found.year, found.doi) == (
        "Deep Residual Learning",
        ("Kaiming He", "Xiangyu Zhang"),
        2016,
        "10.1109/CVPR.2016.90",
    )


@pytest.mark.parametrize(
    ("entry", "key", "title", "authors", "year"),
    [
        (
            "[3] A. Vaswani, N. Shazeer, and N. Parmar. Attention is all you need. In NIPS, 2017.",
            "3",
            "Attention is all you need",
            ("A. Vaswani", "N. Shazeer", "N. Parmar"),
            2017,
        ),
        (
            "He, K., Zhang, X. (2016). Deep residual learning. CVPR.",
            "7",
            "Deep residual learning",
            ("K. He", "X. Zhang"),
            2016,
        ),
        (
            "12. D. Kingma and J. Ba, “Adam: A method,” ICLR, 2015.",
            "12",
            "Adam: A method",
            ("D. Kingma", "J. Ba"),
            2015,
        ),
    ],
)
def test_printed_entries(
    entry: str, key: str, title: str, authors: tuple[str, ...], year: int
) -> None:
    found = keyed(entry, 7)
    assert (found.key, found.title, found.authors, found.year) == (
        key,
        title,
        authors,
        year,
    )


def test_citations_by_number_range_and_name() -> None:
    entries = [
        keyed(f"[{number}] A. Name{number}. A title of work {number}. 20{number}.", 0)
        for number in range(10, 15)
    ]
    known = Bibliography.of(entries)
    assert cited_keys("As in [10, 12-14] and [99].", known) == ("10", "12", "13", "14")
    assert cited_keys("Name11 et al. (2011) and (Name12 & Other, 2012)", known) == (
        "11",
        "12",
    )
    assert cited_keys("[see @x; @y.z, p. 3] mail me@home.org", Bibliography()) == (
        "x",
        "y.z",
    )


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"M\"uller \& S{\o}ns, \v{C}ech", "Müller & Søns, Čech"),
        (r"a~\emph{b} $x_{1}$ \textbf{c}--d", "a b $x_{1}$ c–d"),
        (r"\citep[p.~3]{a, b} in \ref{fig:x}", "[@a; @b] in [fig:x]"),
    ],
)
def test_lines_of_latex(latex: str, text: str) -> None:
    assert detex(latex) == text


@given(st.text(alphabet='@ab{}=",#\\%\n ', max_size=200))
@example(" }")
@settings(max_examples=80)
def test_no_bibliography_breaks_its_reader(text: str) -> None:
    for found in (*read_bibtex(f"@misc{{{text}"), *read_bibitems(f"\\bibitem{{{text}")):
        assert found.key
