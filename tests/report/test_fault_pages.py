"""The pages of the faults: complete, from the docstrings, and the committed ones are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.faults.page import SECTIONS
from reenact.faults.registry import (
    all_detectors,
    all_faults,
    detector,
    detectors_of,
    fault,
)
from reenact.report.fault_pages import (
    INDEX,
    detector_help,
    detector_text,
    fault_text,
    page,
    pages,
    write_pages,
)

COMMITTED = Path(__file__).parents[2] / "docs" / "faults"


def test_every_fault_has_a_page_with_all_sections_and_a_line_in_the_index() -> None:
    made = pages()
    assert set(made) == {INDEX, *(f"{one.name}.md" for one in all_faults())}
    for one in all_faults():
        text = made[f"{one.name}.md"]
        assert [name for name in SECTIONS if f"## {name}\n" not in text] == [], one.name
        assert [
            own.code for own in detectors_of(one) if f"### {own.code} {own.name}\n" not in text
        ] == []
        assert f"[{one.name}]({one.name}.md)" in made[INDEX]


def test_the_committed_pages_are_those_that_the_docstrings_make() -> None:
    made = pages()
    committed = {file.name: file.read_text(encoding="utf-8") for file in COMMITTED.glob("*.md")}
    stale = sorted(
        name for name in made.keys() | committed.keys() if made.get(name) != committed.get(name)
    )
    assert not stale, (
        f"run `reenact rules --write docs/faults`; it differs in {', '.join(stale[:8])}"
    )


def test_writing_takes_away_pages_of_faults_that_are_no_more(tmp_path: Path) -> None:
    known = all_faults()[0]
    (tmp_path / "no-such-fault.md").write_text(page(known).replace(known.name, "no-such-fault"))
    (tmp_path / "notes.md").write_text("mine")
    written = write_pages(tmp_path)
    assert not (tmp_path / "no-such-fault.md").exists()
    assert (tmp_path / "notes.md").read_text() == "mine"
    assert len(written) == len(all_faults()) + 1


@pytest.mark.parametrize("code", ["MD001", ""])
def test_a_code_without_a_detector_has_no_help(code: str) -> None:
    assert detector_help(code) == ""


def test_the_help_of_a_detector_is_what_it_looks_for_and_then_its_fault() -> None:
    text = detector_help("RE002")
    assert text.startswith("# RE002 softmax-twice\n")
    assert text.index("## Fault softmax-before-cross-entropy") < text.index("### Example")
    assert "#### UM009 double-activation" in text
    assert text.count("RE002 softmax-twice") == 1


def test_explanations_keep_the_lines_of_programs_and_name_the_paper() -> None:
    found = fault("softmax-before-cross-entropy")
    assert found is not None
    for text in (fault_text(found, 60), detector_text(detector("RE002"), 60)):
        program = text.partition("\nExample\n")[2].partition("\nInstead\n")[0]
        assert "    loss_of = nn.CrossEntropyLoss()" in program
    assert "Structure and Model" in " ".join(detector_text(detector("UM009"), 60).split())
    assert [one.code for one in all_detectors() if "{paper}" in detector_text(one)] == []
