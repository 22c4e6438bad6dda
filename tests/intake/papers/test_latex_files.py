"""The files of a LaTeX paper: what is put together, and what never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import UnreadablePaper
from reenact.intake.papers.latex_files import (
    Files,
    find_main,
    flatten,
    without_comments,
)
from reenact.intake.papers.source import MOST_TEXT

PAPER = "\\documentclass{article}\n\\begin{document}\n%s\n\\end{document}\n"


def write(folder: Path, **files: str) -> Files:
    for name, text in files.items():
        place = folder / f"{name.replace('__', '/')}.tex"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Files(folder)


def test_inputs_are_put_in_their_places(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        main=PAPER
        % "A\\input{parts/one}B \\include{two} \\input three \\import{parts/}{four} % \\input{no}",
        parts__one="ONE \\input{parts/inner}",
        parts__inner="INNER",
        two="TWO",
        three="THREE",
        parts__four="FOUR",
        no="SECRET",
    )
    text = flatten(files, "main.tex")
    assert text.split("{document}")[1].split()[:-1] == [
        "A",
        "ONE",
        "INNER",
        "B",
        "TWO",
        "THREE",
        "FOUR",
    ]
    assert "SECRET" not in text


@pytest.mark.parametrize("name", ["/etc/hostname", "../outside", "parts/../../outside", "link"])
def test_nothing_outside_the_folder_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.tex").write_text("OUTSIDE")
    folder = tmp_path / "paper"
    files = write(folder, main=PAPER % f"A \\input{{{name}}} B")
    (folder / "link.tex").symlink_to(tmp_path / "outside.tex")
    text = flatten(files, "main.tex")
    assert text.split("{document}")[1].split()[:2] == ["A", "B"]
    assert files.lost[0].kind == "file"
    assert name.rpartition("/")[2] in files.lost[0].what


def test_files_that_include_one_another_are_refused(tmp_path: Path) -> None:
    files = write(tmp_path, main=PAPER % "\\input{a}", a="\\input{b}", b="\\input{a}")
    with pytest.raises(
        UnreadablePaper, match=r"in a circle: main\.tex -> a\.tex -> b\.tex -> a\.tex"
    ):
        flatten(files, "main.tex")


def test_files_that_include_without_end_are_refused(tmp_path: Path) -> None:
    chain = {f"f{number}": f"\\input{{f{number + 1}}}" for number in range(40)}
    files = write(tmp_path, main=PAPER % "\\input{f0}", **chain, f40="end")
    with pytest.raises(UnreadablePaper, match="without end"):
        flatten(files, "main.tex")


def test_files_that_multiply_are_refused(tmp_path: Path) -> None:
    many = "\\input{b}" * 500
    files = write(tmp_path, main=PAPER % many, b="x" * 100)
    with pytest.raises(UnreadablePaper, match="without end"):
        flatten(files, "main.tex")


def test_a_file_that_is_too_large_is_left_out(tmp_path: Path) -> None:
    files = write(tmp_path, main=PAPER % "A \\input{large} B")
    with (tmp_path / "large.tex").open("wb") as stream:
        stream.truncate(100 * 1024**2)
    assert "A" in flatten(files, "main.tex")
    assert str(MOST_TEXT)[:3] in files.lost[0].what
    assert "large.tex" in files.lost[0].what


def test_the_main_file_is_found_among_others(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        notes="% \\documentclass{article} \\begin{document}",
        figure="\\documentclass{standalone}\\begin{document}x\\end{document}",
        supplement=PAPER % "More." * 50,
        paper=PAPER % "\\begin{abstract}Here.\\end{abstract}",
    )
    assert find_main(files, "x") == "paper.tex"
    assert "supplement.tex could be one too" in files.lost[0].what


def test_a_folder_without_a_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadablePaper, match="no LaTeX document"):
        find_main(write(tmp_path, part="\\section{A} words"), "here")


def test_comments_go_and_percent_signs_stay() -> None:
    assert without_comments("a 5\\% b % gone\n  c\\\\% gone\nd") == "a 5\\% b c\\\\d"
    listing = "\\begin{lstlisting}\nx % 2\n\\end{lstlisting}"
    assert without_comments(f"{listing} % gone\n") == f"{listing} "
    assert without_comments("a % gone\n \nb\n% gone\nc") == "a \n \nb\nc"
    assert without_comments("a \\iffalse gone \\fi b").split() == ["a", "b"]
    assert (
        without_comments("a \\begin{comment} kept, it has no end")
        == "a \\begin{comment} kept, it has no end"
    )


def test_text_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_bytes((PAPER % "Müller").encode("latin-1"))
    assert "Müller" in flatten(Files(tmp_path), "main.tex")
