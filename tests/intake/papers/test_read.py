"""Papers as they come: archives, single files, and everything that is not one."""

from __future__ import annotations

import gzip
import io
import itertools
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import UnreadablePaper
from reenact.intake.papers.pandoc import parse
from reenact.intake.papers.paper import Paper
from reenact.intake.papers.read import read_paper
from reenact.intake.papers.source import Form, form_of
from reenact.sandbox.box import MIB, Limits, Sandbox

SMALL = b"\\documentclass{article}\\begin{document}\\section{A}Some words.\\end{document}"


def test_an_archive_is_read_like_its_folder(
    tmp_path: Path, fixtures: Path, box: Sandbox, latex: Paper
) -> None:
    place = tmp_path / "paper.tar.gz"
    with tarfile.open(place, "w:gz") as archive:
        archive.add(fixtures / "narrow", "narrow")
    assert read_paper(str(place), box=box).text() == latex.text()


def test_a_single_packed_file_as_arxiv_sends_it(tmp_path: Path, box: Sandbox) -> None:
    place = tmp_path / "2001.00001"
    place.write_bytes(gzip.compress(SMALL))
    assert read_paper(str(place), box=box).find("Some words")


def test_a_folder_with_one_markdown_paper(tmp_path: Path, box: Sandbox) -> None:
    (tmp_path / "paper.md").write_text("# Title\n\n## A\n\nSome words.\n")
    assert read_paper(str(tmp_path), box=box).title == "Title"


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def tarred(member: tarfile.TarInfo, data: bytes = b"") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def nested(depth: int) -> bytes:
    return (
        b"\\documentclass{article}\\begin{document}"
        + b"{\\emph{" * depth
        + b"x"
        + b"}}" * depth
        + b"\\end{document}"
    )


BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "empty": ("paper.md", lambda: b"", "is empty"),
    "only spaces": ("paper.md", lambda: b" \n\n", "is empty"),
    "only signs": ("paper.md", lambda: b"# \n\n---\n", "says nothing"),
    "binary": ("paper.md", lambda: bytes(range(256)) * 20, "is not text"),
    "picture": (
        "paper",
        lambda: b"\x89PNG\r\n\x1a\n" + b"\x00\x01" * 500,
        "is not text",
    ),
    "large text": (
        "paper.txt",
        lambda: b"word " * 2_000_000,
        "at most 4194304 are read",
    ),
    "part of a paper": (
        "part.tex",
        lambda: b"\\section{A} words",
        "no \\\\begin{document}",
    ),
    "traversal": (
        "p.zip",
        lambda: zipped(**{"../evil.tex": SMALL}),
        "name that may not be",
    ),
    "absolute": (
        "p.tar.gz",
        lambda: tarred(tarfile.TarInfo("/etc/evil.tex"), SMALL),
        "name that may not be",
    ),
    "escape in a name": (
        "p.tar.gz",
        lambda: tarred(tarfile.TarInfo("a\x1b[2J.tex"), SMALL),
        "name that may not be",
    ),
    "deep": (
        "p.tar.gz",
        lambda: tarred(tarfile.TarInfo("a/" * 60 + "x.tex"), SMALL),
        "deeper than 20",
    ),
    "long name": (
        "p.tar.gz",
        lambda: tarred(tarfile.TarInfo("a" * 300 + ".tex"), SMALL),
        "longer than 255",
    ),
    "gzip bomb": (
        "p.gz",
        lambda: gzip.compress(b"\0" * (65 * 1024**2), 1),
        "unpacks to more than 64 MiB",
    ),
    "packed twice": (
        "p.gz",
        lambda: gzip.compress(gzip.compress(SMALL)),
        "packed twice",
    ),
    "cut archive": ("p.zip", lambda: zipped(a=SMALL)[:60], "cannot be unpacked"),
    "cut gzip": ("p.gz", lambda: gzip.compress(SMALL * 50)[:40], "cannot be unpacked"),
    "archive without a paper": (
        "p.zip",
        lambda: zipped(**{"data.csv": b"1,2"}),
        "no LaTeX document",
    ),
    "too nested": (
        "paper.tex",
        lambda: nested(150),
        "built in a way|cannot read|memory|did not end",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_papers_are_reported_in_a_sentence(kind: str, tmp_path: Path, box: Sandbox) -> None:
    name, data, message = BAD[kind]
    place = tmp_path / name
    place.write_bytes(data())
    with pytest.raises(UnreadablePaper, match=message) as error:
        read_paper(str(place), box=box)
    assert error.value.sentence.endswith((".", name))


def test_a_hundred_megabytes_are_not_read(tmp_path: Path, box: Sandbox) -> None:
    place = tmp_path / "paper.txt"
    with place.open("wb") as stream:
        stream.truncate(100 * 1024**2)
    with pytest.raises(UnreadablePaper, match="more than 64 MiB"):
        read_paper(str(place), box=box)


def test_links_of_an_archive_are_left_out(tmp_path: Path, box: Sandbox) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        link = tarfile.TarInfo("secret.tex")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
        paper = SMALL.replace(b"Some words.", b"Some words. \\input{secret}")
        main = tarfile.TarInfo("main.tex")
        main.size = len(paper)
        archive.addfile(main, io.BytesIO(paper))
    place = tmp_path / "p.tar.gz"
    place.write_bytes(made.getvalue())
    found = read_paper(str(place), box=box)
    assert [one.what for one in found.lost] == ["secret is included, and it is not there."]


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("nowhere.pdf", "cannot be read: No such file"),
        ("https://example.org/paper.pdf", "Only papers of arXiv"),
        ("file:///etc/passwd", "Only papers of arXiv"),
        ("/dev/zero", "it is a device, expected a file"),
    ],
)
def test_references_that_lead_nowhere(ref: str, message: str, box: Sandbox) -> None:
    with pytest.raises(UnreadablePaper, match=message):
        read_paper(ref, box=box)


def test_a_folder_without_a_paper(tmp_path: Path, box: Sandbox) -> None:
    (tmp_path / "notes.csv").write_text("1")
    with pytest.raises(UnreadablePaper, match="no LaTeX document"):
        read_paper(str(tmp_path), box=box)


def test_macros_that_multiply_are_stopped(box: Sandbox) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = itertools.pairwise(letters)
    bomb = "\\def\\a{x}" + "".join(
        "\\def\\{}{{{}}}".format(new, f"\\{old}" * 10) for old, new in pairs
    )
    text = f"\\documentclass{{article}}{bomb}\\begin{{document}}\\j\\end{{document}}"
    small = Limits(wall_s=2, memory_bytes=256 * MIB, processes=64)
    with pytest.raises(UnreadablePaper, match=r"did not end|memory|cannot read"):
        parse(text, "latex", box=box, limits=small)


@pytest.mark.parametrize(
    ("data", "name", "form"),
    [
        (b"%PDF-1.7 ...", "paper.txt", Form.PDF),
        (b"\n<!DOCTYPE HTML><html>", "x", Form.HTML),
        (b"% comment\n\\documentclass{x}", "x", Form.LATEX),
        (b"# Title\n\nwords", "README", Form.MARKDOWN),
        (b"just words", "x", Form.TEXT),
        (b"<html>", "paper.md", Form.HTML),
    ],
)
def test_forms_by_content_first(data: bytes, name: str, form: Form) -> None:
    assert form_of(data, name) is form


def test_a_figure_that_is_a_pdf_is_drawn(tmp_path: Path, box: Sandbox, pdf: Any) -> None:
    sheet = pdf.sheet()
    sheet.say("A drawing", 72, 700)
    (tmp_path / "net.pdf").write_bytes(pdf.of(sheet))
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7 broken")
    figures = b"".join(
        b"\\begin{figure}\\includegraphics{%s}\\caption{C.}\\end{figure}" % name
        for name in (b"net", b"bad")
    )
    (tmp_path / "main.tex").write_bytes(SMALL.replace(b"Some words.", b"Some words. " + figures))
    paper = read_paper(str(tmp_path / "main.tex"), box=box)
    images = [one.image[:4] for one in paper.blocks() if hasattr(one, "image")]
    assert images == [b"\x89PNG", b""]
    assert [one.where for one in paper.lost] == ["bad"]
