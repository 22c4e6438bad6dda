"""The whole of the lineage with a scripted model, a library on disk, and everything that can be
missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reenact.intake.papers.clients import Arxiv, Clients, Library, Scholar
from reenact.intake.papers.paper import Paper
from reenact.intake.web import Polite, Web
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.lineage.cited import Shelves, repository_links
from reenact.paper.lineage.code import licence_of
from reenact.paper.lineage.trace import Exemplar, choose_lineage, trace_lineage
from reenact.paper.options import Goal
from reenact.sandbox.box import Sandbox
from reenact.types import tell_nobody


def pick(key: str, *places: str) -> dict[str, Any]:
    return {"key": key, "why": "the baseline", "places": list(places)}


CHOICE = {"picks": [pick("moor2021", "2:1.1"), pick("vale2020")]}
SUMMARY = {
    "statements": [
        {"text": "Updates wait for 5 batches.", "places": ["1:1.1"]},
        {"text": "It is perfect.", "places": ["7:7.7"]},
    ]
}
FILES = {"files": [{"path": "steady/wait.py", "why": "the waiting"}]}
ANSWERS: dict[str, Any] = {
    "paper/choose": CHOICE,
    "paper/cited[0]/summary": SUMMARY,
    "paper/cited[0]/choose-files": FILES,
    "paper/cited[1]/summary": {
        "statements": [{"text": "It updates at once.", "places": ["1:1.1"]}]
    },
}


def traced(
    paper: Paper,
    library: Library | None,
    box: Sandbox,
    tmp_path: Path,
    journal: Journal,
    answers: Mapping[str, Any] = ANSWERS,
) -> tuple[tuple[Exemplar, ...], Scripted]:
    model = Scripted(dict(answers))
    with journal.run(pipeline="paper", request={}) as run:
        shelves = Shelves(box, tmp_path / "checkouts", library)
        found = trace_lineage(paper, Goal(), model, run, shelves, most=2, tell=tell_nobody)
        run.finish({})
    return found, model


def test_summary_and_code_where_there_is_some(
    paper: Paper, library: Library, box: Sandbox, tmp_path: Path
) -> None:
    with Journal.in_memory() as journal:
        (steady, hasty), model = traced(paper, library, box, tmp_path, journal)
    assert (steady.key, steady.licence, steady.repository) == (
        "moor2021",
        "MIT",
        "library:steady-steps",
    )
    assert steady.summary == "- Updates wait for 5 batches. [1:1.1]"
    assert [(file.path, file.why) for file in steady.files] == [("steady/wait.py", "the waiting")]
    assert steady.files[0].text.startswith("def wait(")
    assert steady.cited_in == ("2:1.1",)
    assert any("naming no place of its text: 1" in note for note in steady.notes)
    assert hasty.summary
    assert (hasty.files, hasty.repository, hasty.licence) == ((), "", "")
    assert "No repository of it was found." in hasty.notes
    assert "could be had" not in steady.text() + hasty.text()
    asked = "\n".join(call.as_text() for call in model.calls)
    assert str(tmp_path) not in asked, "a prompt that knows its folder fits no other machine"
    assert "huge.py" not in asked


def test_nothing_is_asked_twice(
    paper: Paper, library: Library, box: Sandbox, tmp_path: Path
) -> None:
    with Journal.in_memory() as journal:
        first, _ = traced(paper, library, box, tmp_path, journal)
        again, silent = traced(paper, library, box, tmp_path, journal, {})
    assert again == first
    assert silent.calls == []


def test_what_cannot_be_had_is_a_note(paper: Paper, box: Sandbox, tmp_path: Path) -> None:
    with Journal.in_memory() as journal:
        found, model = traced(paper, None, box, tmp_path, journal, {"paper/choose": CHOICE})
    assert len(model.calls) == 1, "without a text there is nothing to sum up"
    for one in found:
        assert (one.summary, one.files, one.repository) == ("", (), "")
        assert "Its text was not fetched: the network is not used." in one.notes
        assert "No repository of it was found." in one.notes
        assert "Neither its text nor its code could be had" in one.text()


def test_a_repository_without_code_is_no_success(
    paper: Paper, library: Library, box: Sandbox, tmp_path: Path
) -> None:
    for file in (library.folder / "steady-steps" / "repository").rglob("*.py"):
        file.unlink()
    with Journal.in_memory() as journal:
        (steady, _), _ = traced(paper, library, box, tmp_path, journal)
    assert (steady.files, steady.repository) == ((), "")
    assert any("could not be opened" in note and "no Python" in note for note in steady.notes)
    assert steady.summary, "the text is there all the same"


def test_a_text_that_cannot_be_read_is_a_note(
    paper: Paper, library: Library, box: Sandbox, tmp_path: Path
) -> None:
    (library.folder / "steady-steps" / "paper.md").write_bytes(b"\x00\x01\x02" * 50)
    answers = {name: answer for name, answer in ANSWERS.items() if name != "paper/cited[0]/summary"}
    with Journal.in_memory() as journal:
        (steady, _), _ = traced(paper, library, box, tmp_path, journal, answers)
    assert steady.summary == ""
    assert any("library cannot be read" in note for note in steady.notes)
    assert steady.files, "its code is there all the same"


@pytest.mark.parametrize(
    "files",
    [
        {"files": [{"path": "../../../etc/passwd", "why": "w"}]},
        {"files": [{"path": "steady/waits.py", "why": "w"}]},
        {"files": [{"path": "huge.py", "why": "w"}]},
        "no JSON",
    ],
)
def test_only_paths_of_the_real_tree_count(
    paper: Paper, library: Library, box: Sandbox, tmp_path: Path, files: Any
) -> None:
    answers = {**ANSWERS, "paper/cited[0]/choose-files": [files] * 9}
    with Journal.in_memory() as journal:
        (steady, _), _ = traced(paper, library, box, tmp_path, journal, answers)
    assert steady.files == ()
    assert any("No file of its repository was chosen" in note for note in steady.notes)


def test_a_wrong_path_is_asked_again(
    paper: Paper, library: Library, box: Sandbox, tmp_path: Path
) -> None:
    wrong = {"files": [{"path": "wait.py", "why": "w"}]}
    answers = {**ANSWERS, "paper/cited[0]/choose-files": [wrong, FILES]}
    with Journal.in_memory() as journal:
        (steady, _), _ = traced(paper, library, box, tmp_path, journal, answers)
    assert [file.path for file in steady.files] == ["steady/wait.py"]


@pytest.mark.parametrize(
    "choice",
    [
        {"picks": [pick("nobody")]},
        {"picks": []},
        {"picks": [pick("moor2021")] * 2},
        "no JSON",
    ],
)
def test_a_choice_of_no_use_leaves_the_mechanical_one(paper: Paper, choice: Any) -> None:
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}) as run,
    ):
        chosen = choose_lineage(paper, Goal(), Scripted([choice] * 9), run, most=2)
    assert [one.key for one in chosen] == ["moor2021", "vale2020"]
    assert all("by its citations alone" in one.notes[0] for one in chosen)


def test_without_a_model_the_order_decides(paper: Paper) -> None:
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}) as run,
    ):
        assert len(choose_lineage(paper, Goal(), None, run, most=3)) == 3
        assert choose_lineage(paper, Goal(), None, run, most=0) == ()


def test_addresses_of_repositories() -> None:
    text = (
        "See (https://github.com/a/b.git), www.gitlab.com/c/d-e. github.com/a/b and "
        "https://example.org/x/y."
    )
    assert repository_links(text) == (
        "https://github.com/a/b",
        "https://gitlab.com/c/d-e",
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Apache License\nVersion 2.0, January 2004", "Apache-2.0"),
        ("GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June 2007", "GPL-3.0"),
        ("Redistribution and use in source ... Neither the name of", "BSD-3-Clause"),
        ("Do what you like.\nReally.", "Do what you like."),
        ("", ""),
    ],
)
def test_licences_by_their_usual_names(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "LICENCE.md").write_text(text)
    assert licence_of(tmp_path) == name


def test_a_network_that_is_not_there_becomes_notes(
    paper: Paper, box: Sandbox, tmp_path: Path
) -> None:
    closed = Web(api="http://127.0.0.1:9")
    polite = Polite(every_s=0.0, tries=1)
    clients = Clients(Arxiv(closed, polite), Scholar(closed, polite))
    choice = {"picks": [{"key": "moor2021", "why": "the baseline"}]}
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}) as run,
    ):
        shelves, model = (
            Shelves(box, tmp_path / "checkouts", clients=clients),
            Scripted([choice]),
        )
        (found,) = trace_lineage(paper, Goal(), model, run, shelves, most=1, tell=tell_nobody)
    assert (found.summary, found.files, found.repository) == ("", (), "")
    assert any("could not be fetched" in note for note in found.notes)
