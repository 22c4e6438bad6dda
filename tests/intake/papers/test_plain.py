from __future__ import annotations

from reenact.intake.papers.assemble import assemble
from reenact.intake.papers.plain import read_plain

TEXT = """Narrow Layers Learn Late

Abstract
We study width. It matters.

1 Introduction

Layers are well-
known [1, 2]. See Smith (2019).

3.1 Setup of ASN.1 data
We train.

References
[1] A. One. First title of work. ICML, 2018.
[2] B. Two. Second title of work.
    In NIPS, 2017.

J. Smith. Third title of work. 2019.
"""


def test_headings_paragraphs_and_references() -> None:
    paper = assemble(read_plain(TEXT), "paper.txt")
    assert paper.title == "Narrow Layers Learn Late"
    assert [(one.id, one.title) for one in paper.sections] == [
        ("0", "Abstract"),
        ("1", "Introduction"),
        ("1.1", "Setup of ASN.1 data"),
    ]
    first, second = [one for one in paper.sentences() if one.id.startswith("1:")]
    assert first.text == "Layers are well-known [1, 2]."
    assert (first.cites, second.cites) == (("1", "2"), ("3",))
    assert [one.title for one in paper.references] == [
        "First title of work",
        "Second title of work",
        "Third title of work",
    ]
