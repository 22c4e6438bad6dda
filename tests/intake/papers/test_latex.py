"""Nothing of a LaTeX paper is lost: formulas, cells, labels, citations, algorithms; else it is
reported.
"""

from __future__ import annotations

from pathlib import Path

from reenact.intake.papers.paper import (
    Algorithm,
    Equation,
    Figure,
    Paper,
    Paragraph,
    Table,
)
from reenact.intake.papers.read import read_paper
from reenact.sandbox.box import Sandbox


def test_title_authors_and_outline(latex: Paper) -> None:
    assert latex.title == "Narrow Layers Learn Late: A Study of Width"
    assert latex.authors == ("Ada Example", "Bo Sample")
    assert [(one.id, one.title) for one in latex.sections] == [
        ("0", "Abstract"),
        ("1", "Method"),
        ("2", "Experiments"),
        ("2.1", "Setup"),
        ("2.2", "Results"),
        ("A", "Settings"),
    ]


def test_equations_with_macros_written_out_and_labels(latex: Paper) -> None:
    found = [(one.label, one.latex) for one in latex.blocks() if isinstance(one, Equation)]
    assert found == [
        (
            "eq:loss",
            r"L(\theta) = -\sum_{i=1}^{n} y_i \log \mathop{\mathrm{softmax}}(W x_i)",
        ),
        (
            "eq:m, eq:step",
            "\\begin{align}\n  m_t &= \\beta m_{t-1} + (1-\\beta) g_t \\\\\n"
            "  \\theta_t &= \\theta_{t-1} - \\eta m_t \n\\end{align}",
        ),
        ("", r"\beta = 0.9"),
    ]


def test_every_cell_of_the_table_with_spans_repeated(latex: Paper) -> None:
    (table,) = [one for one in latex.blocks() if isinstance(one, Table)]
    assert (table.label, table.caption, table.heads) == (
        "tab:acc",
        "Accuracy on digits over 5 seeds, next to [@ba2014].",
        2,
    )
    assert table.rows == (
        ("", "Accuracy (%)", "Accuracy (%)", "Seconds"),
        ("Model", "train", "test", "Seconds"),
        ("MLP [@ba2014]", "99.1", r"88.1$\pm$0.4", "12"),
        ("MLP [@ba2014]", "98.0", "87.9", "11 (best)"),
        ("Narrow-Net", "97.3", "91.2", "30"),
    )


def test_figures_with_their_pixels(latex: Paper, fixtures: Path) -> None:
    net, curve = [one for one in latex.blocks() if isinstance(one, Figure)]
    assert (net.label, net.caption) == ("fig:net", "The network, after [@kingma2015].")
    assert net.image == (fixtures / "narrow" / "figures" / "net.png").read_bytes()
    assert (curve.label, curve.caption, curve.image) == (
        "fig:curve",
        "Loss by epoch.",
        b"",
    )


def test_algorithms_are_whole(latex: Paper) -> None:
    (algorithm,) = [one for one in latex.blocks() if isinstance(one, Algorithm)]
    assert (algorithm.label, algorithm.caption) == (
        "alg:train",
        "Training of Narrow, as in [@kingma2015]",
    )
    assert algorithm.body.splitlines() == [
        r"\REQUIRE data $D$, rate $\eta$",
        r"\FOR{$t=1$ to $T$}",
        r"  \STATE draw a batch $B \subset D$",
        r"  \STATE $\theta \gets \theta - \eta \nabla L$ \COMMENT{one step}",
        r"\ENDFOR",
    ]


def test_citations_lead_to_references(latex: Paper) -> None:
    kingma, ba = latex.references
    assert (kingma.title, kingma.authors, kingma.year, kingma.arxiv) == (
        "Adam: A Method for Stochastic Optimization",
        ("Diederik P. Kingma", "Jimmy Ba"),
        2015,
        "1412.6980",
    )
    assert (ba.doi, ba.url) == ("10.5555/2969033", "https://example.org/deep")
    assert ba.cited_in == ("0:1.2", "1:1.1", "2.2:1")
    assert kingma.cited_in == ("1:1.1", "2.2:2", "2.2:4")
    assert "International Conference on Learning Representations (poster)" in kingma.text


def test_sentences_footnotes_items_and_run_in_headings(latex: Paper) -> None:
    texts = [one.text for one in latex.sentences()]
    assert "Narrow-Net reaches 91.2% on digits, i.e., 3.1 points more than [@ba2014]." in texts
    assert (
        r"Let $x\in\mathbb{R}^d$ be an input and $\eta=10^{-3}$ the learning rate "
        r"[@kingma2015; @ba2014]."
    ) in texts
    assert texts[texts.index("Footnote: Biases too.") :][:2] == [
        "Footnote: Biases too.",
        "They start at zero.",
    ]
    assert {
        "Narrow ones, with 8 units.",
        "Wide ones, with $2^{10}$ units.",
        "Data.",
    } <= set(texts)
    assert "Weights are drawn from a normal distribution with $\\sigma=0.02$." in texts
    assert not any("neverread" in text for text in texts)


def test_what_was_lost_is_reported(latex: Paper) -> None:
    lost = {(one.kind, one.where) for one in latex.lost}
    assert lost == {
        ("file", "sections/experiments.tex"),
        ("figure", "curve.eps"),
        ("macro", "\\odd"),
        ("macro", "\\undone"),
    }


def test_the_same_paper_has_the_same_ids(latex: Paper, fixtures: Path, box: Sandbox) -> None:
    again = read_paper(str(fixtures / "narrow" / "main.tex"), box=box)
    assert again.by_id.keys() == latex.by_id.keys()
    assert again.text() == latex.text()


def test_quotes_are_found_in_sentences_cells_and_formulas(latex: Paper) -> None:
    assert latex.find("decides when it learns") == ("0:1.1",)
    assert latex.find("88.1 ± 0.4") == () or latex.find("88.1")[0] == "2.2:1"
    assert latex.find("\\beta = 0.9") == ("1:5",)
    assert latex.find("a sentence that the paper does not have") == ()


def test_packages_that_pandoc_does_not_know_cost_no_table(tmp_path: Path, box: Sandbox) -> None:
    (tmp_path / "paper.tex").write_text(HARD)
    paper = read_paper(str(tmp_path / "paper.tex"), box=box)
    tables = {one.label: one for one in paper.blocks() if isinstance(one, Table)}
    assert tables["tab:x"].rows == (
        ("Model", "A B"),
        ("X", "1"),
        ("Y [@a]", "--".replace("--", "–")),
    )
    assert tables["tab:x"].caption == "Cap with $x$."
    assert any(isinstance(one, Paragraph) and "A note below" in one.text for one in paper.blocks())
    assert [one.rows for one in tables.values() if one.label == "tab:w"] == [
        (("a", "b"), ("1", "2"))
    ]
    pictures = [one.caption for one in paper.blocks() if isinstance(one, Figure)]
    assert pictures == ["Both. (Left)", "Right"]
    assert [one.key for one in paper.references] == ["a", "b"]
    assert (paper.references[0].title, paper.references[0].arxiv) == (
        "Adam: A method",
        "1412.6980",
    )
    assert {one.kind for one in paper.lost} == {"figure", "citation"}
    assert paper.find("and [@nowhere], i.e. both.") == ("1:1.1",)
    listing = next(one for one in paper.blocks() if isinstance(one, Algorithm))
    assert listing.body == "for i in range(3):\n    pass"


HARD = r"""
\documentclass{article}
\begin{document}
\section{A}
We cite \cite{a} and \cite{nowhere}, \ie both. \iffalse Hidden words. \fi
\begin{table*}\begin{threeparttable}
\caption{Cap with $x$.}\label{tab:x}
\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}p{3cm}|>{\centering}S[table-format=1.1]}
\hline \textbf{Model} & \begin{tabular}[c]{@{}c@{}}A\\ B\end{tabular} \\ \cline{1-2} \hline
\rowcolor{gray} X & 1 \\[2pt] \arrayrulecolor{red}
Y \cite{a} & -- \\ \Xhline{2pt}
\end{tabular*}
\begin{tablenotes}\item A note below.\end{tablenotes}
\end{threeparttable}\end{table*}
\begin{wraptable}{r}{5cm}\caption{W.}\label{tab:w}
\begin{tabular}{cc} a & b \\ 1 & 2\end{tabular}\end{wraptable}
\begin{figure}
\begin{subfigure}{0.5\textwidth}\includegraphics{a.png}\caption{Left}\end{subfigure}
\begin{subfigure}{0.5\textwidth}\includegraphics{b.png}\caption{Right}\end{subfigure}
\caption{Both.}
\end{figure}
\begin{lstlisting}[language=Python]
for i in range(3):
    pass
\end{lstlisting}
\begin{thebibliography}{9}
\bibitem[{Kingma and Ba(2015)}]{a} D.~P. Kingma and J.~Ba. \newblock Adam: {A} method. \newblock In
\emph{ICLR}, 2015. \newblock \url{https://arxiv.org/abs/1412.6980}.
\bibitem{b} K. M\"uller. \newblock Deep. \newblock 2016.
\end{thebibliography}
\end{document}
"""


def test_a_section_that_pandoc_refuses_costs_itself_alone(tmp_path: Path, box: Sandbox) -> None:
    (tmp_path / "paper.tex").write_text(BROKEN)
    paper = read_paper(str(tmp_path / "paper.tex"), box=box)
    assert (paper.title, paper.authors) == (
        "A Long Title",
        ("Ada Example", "Bo Sample"),
    )
    assert [one.title for one in paper.sections] == [
        "Abstract",
        "Good",
        "Broken",
        "Good again",
    ]
    assert "Words before the break" in paper.text()
    assert [(one.label, one.latex) for one in paper.blocks() if isinstance(one, Equation)] == [
        ("eq:x", "x = 1")
    ]
    assert [(one.kind, one.where) for one in paper.lost] == [("text", "Broken")]


BROKEN = r"""
\documentclass{article}
\begin{document}
\twocolumn[\icmltitle{A Long Title}
\begin{icmlauthorlist}\icmlauthor{Ada Example}{x}\icmlauthor{Bo Sample}{y}\end{icmlauthorlist}]
\begin{abstract}We do things.\end{abstract}
\section{Good}
Words.
\section{Broken}
Words before the break. \begin{itemize} \item one
\begin{equation} x = 1 \label{eq:x} \end{equation}
\section{Good again}
More words.
\end{document}
"""


WRAPPED = r"""
\documentclass{article}
\newcommand{\best}[1]{\best@cut#1\@nil}
\newenvironment{scores}{\begin{tabular*}{\linewidth}{@{\extracolsep{\fill}}lcc@{}}}{\end{tabular*}}
\newcommand{\scorehead}[2]{\begin{scores}\toprule Pot & #1 & #2 \\ \midrule}
\newcommand{\scoreend}{\bottomrule\end{scores}}
\begin{document}
\begin{frontmatter}
{\bf A Study of Kettles}
\begin{aug}
\address{
\begin{tabular}{cc}
Ada Example & Bo Sample\\[5pt]
\end{tabular}
\footnotetext{Somewhere.}
}
\begin{abstract}Kettles hum.\end{abstract}
\end{aug}
\end{frontmatter}
\section{Results}
The first paragraph ends. % here

The second begins.
\begin{table}\caption{Hum.}\label{tab:hum}
\scorehead{Before}{After}
\multicolumn{3}{@{}l}{Copper} \\
Small & 1.0 & \best{2.0\pm0.1} \\
\scoreend\end{table}
\begin{figure}
\begin{subfigure}{0.5\textwidth}\includegraphics{a.png}\label{fig:a}\end{subfigure}
\begin{subfigure}{0.5\textwidth}\includegraphics{b.png}\label{fig:b}\end{subfigure}
\caption{Both.}\label{fig:both}
\end{figure}
\begin{center}\fbox{\begin{minipage}{3cm}\[ h = 1 \]\end{minipage}}\end{center}
\appendix
\section*{Appendix}
\section{More kettles}
They hum too.
\end{document}
"""


def test_what_is_wrapped_in_commands_of_the_author_comes_through(
    tmp_path: Path, box: Sandbox
) -> None:
    (tmp_path / "paper.tex").write_text(WRAPPED.lstrip())
    paper = read_paper(str(tmp_path / "paper.tex"), box=box)
    assert paper.title == "A Study of Kettles"
    assert [(one.id, one.title) for one in paper.sections] == [
        ("0", "Abstract"),
        ("1", "Results"),
        ("A", "More kettles"),
    ]
    assert "Kettles hum." in [one.text for one in paper.sentences()]
    assert [one.text for one in paper.blocks() if isinstance(one, Paragraph)][2:4] == [
        "The first paragraph ends.",
        "The second begins.",
    ]
    (table,) = [one for one in paper.blocks() if isinstance(one, Table)]
    assert (table.label, table.caption, table.heads) == ("tab:hum", "Hum.", 1)
    assert table.rows == (
        ("Pot", "Before", "After"),
        ("Copper", "Copper", "Copper"),
        ("Small", "1.0", r"$2.0\pm0.1$"),
    )
    figures = [(one.label, one.caption) for one in paper.blocks() if isinstance(one, Figure)]
    assert figures == [("fig:a, fig:both", "Both."), ("fig:b", "")]
    assert [one.latex for one in paper.blocks() if isinstance(one, Equation)] == ["h = 1"]
    assert [one.where for one in paper.lost if one.kind != "figure"] == ["\\best"]


def test_a_style_with_the_body_of_a_command_on_the_next_line_costs_nothing(
    tmp_path: Path, box: Sandbox
) -> None:
    (tmp_path / "own.sty").write_text(
        "\\newcommand{\\ELSIF}[2][default]%\n{\\end{ALC@if}##2}\n\\newcommand{\\ours}[1]{Ours "
        "#1}%\n"
    )
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{own}\begin{document}\section{A}\ours{wins} here."
        r"\begin{tabular}{ll}a & b\\ 1 & 2\end{tabular}\end{document}"
    )
    paper = read_paper(str(tmp_path / "paper.tex"), box=box)
    assert paper.find("Ours wins here.")
    assert [one.rows for one in paper.blocks() if isinstance(one, Table)] == [
        (("a", "b"), ("1", "2"))
    ]
    assert paper.lost == ()


def test_an_environment_that_pandoc_skips_is_opened(tmp_path: Path, box: Sandbox) -> None:
    inner = "\\begin{abstract}Kettles hum for long.\\end{abstract}"
    odd = "\\begin{aug}\\address{\n\nOne street\n\n}\n" + inner + "\\end{aug}"
    text = f"\\documentclass{{article}}\\begin{{document}}\n{odd}\n\\section{{One}}\nText.\n\\end{{document}}"
    (tmp_path / "paper.tex").write_text(text)
    paper = read_paper(str(tmp_path / "paper.tex"), box=box)
    assert "Kettles hum for long." in [one.text for one in paper.sentences()]
    assert ("environment", "aug") in [(one.kind, one.where) for one in paper.lost]


def test_ieee_formulas_and_drawings(tmp_path: Path, box: Sandbox) -> None:
    formula = "\\begin{IEEEeqnarray*}{rCl} a_i &=& b \\end{IEEEeqnarray*}"
    drawing = (
        "\\begin{figure}\\begin{tikzpicture}\\draw "
        "(0,0);\\end{tikzpicture}\\caption{Drawn.}\\end{figure}"
    )
    body = f"It holds that\n{formula}\n{drawing}"
    (tmp_path / "paper.tex").write_text(
        f"\\documentclass{{article}}\\begin{{document}}\n{body}\n\\end{{document}}"
    )
    paper = read_paper(str(tmp_path / "paper.tex"), box=box)
    (shown,) = [one.latex for one in paper.blocks() if isinstance(one, Equation)]
    assert shown.split() == [
        "\\begin{eqnarray*}",
        "a_i",
        "&=&",
        "b",
        "\\end{eqnarray*}",
    ]
    assert [(one.kind, one.where) for one in paper.lost] == [("figure", "tikzpicture")]


STARRED = r"""\documentclass{article}\begin{document}
\section*{Notation} We write small letters for numbers.
\section{Method} It learns.
\subsection*{Remark} A remark stands here.
\subsection{Loss} It falls.
\section*{Impact} None is known.
\subsection*{Harm} None.
\section*{Ethics} Nothing was harmed.
\section{Results} It works.
\section*{Acknowledgement} Thanks.
\end{document}
"""


def test_sections_without_a_number_do_not_shift_those_with_one(
    tmp_path: Path, box: Sandbox
) -> None:
    place = tmp_path / "paper.tex"
    place.write_text(STARRED)
    paper = read_paper(str(place), box=box)
    assert [(one.id, one.title) for one in paper.sections] == [
        ("0a", "Notation"),
        ("1", "Method"),
        ("1.0a", "Remark"),
        ("1.1", "Loss"),
        ("1a", "Impact"),
        ("1a.1", "Harm"),
        ("1b", "Ethics"),
        ("2", "Results"),
        ("3", "Acknowledgement"),
    ]
    assert len(paper.by_id) == len(paper.sections) + sum(1 for _ in paper.blocks()) + sum(
        1 for _ in paper.sentences()
    )


OLDER = r"""\documentclass{article}\usepackage{subfigure}\usepackage[ruled]{algorithm2e}
\begin{document}
\section{Method}
We climb.
\begin{figure}
\subfigure[Left {\em slope}]{\begin{minipage}{3cm}\includegraphics{a.png}\end{minipage}\label{fig:a}}
\subfigure[]{\includegraphics{b.png}\label{fig:b}}
\subfloat{\includegraphics{c.png}}
\caption{All slopes.}
\end{figure}
\begin{algorithm}[H]\SetAlgoLined\DontPrintSemicolon
\SetKwInOut{Input}{Input}\SetAlCapFnt{\small}
\caption{Climbing}\label{alg:climb}
\KwIn{slope $s_{0}$}
\KwResult{a summit}
\While{$s > 0$}{climb\;}
\KwRet{$s$}
\end{algorithm}
\end{document}
"""


def test_subfigures_and_algorithms_in_the_older_way(tmp_path: Path, box: Sandbox) -> None:
    (tmp_path / "paper.tex").write_text(OLDER)
    paper = read_paper(str(tmp_path / "paper.tex"), box=box)

    figures = [
        (one.file, one.label, one.caption) for one in paper.blocks() if isinstance(one, Figure)
    ]
    assert figures == [
        ("a.png", "fig:a", "All slopes. (Left slope)"),
        ("b.png", "fig:b", ""),
        ("c.png", "", ""),
    ]
    (algorithm,) = [one for one in paper.blocks() if isinstance(one, Algorithm)]
    assert (algorithm.caption, algorithm.label) == ("Climbing", "alg:climb")
    assert algorithm.body.splitlines() == [
        "Input: slope $s_{0}$",
        "Result: a summit",
        r"\While{$s > 0$}{climb\;}",
        "return $s$",
    ]
    assert [one for one in paper.lost if one.kind == "macro"] == []
