from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.errors import InputError, ModelUnreachable
from reenact.llm.ask import Usage
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock
from reenact.llm.relay import file_answer, file_text, show_request, take_answer, waiting
from reenact.testing.model import question

HOLDS = {"holds": True, "why": "it does"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two requests wait."""
    model = open_model(f"relay:{tmp_path}", clock=ManualClock())
    for step in ("bug/plan", "bug/script"):
        with pytest.raises(ModelUnreachable):
            model.ask(question(step))
    return tmp_path


def test_what_waits_is_listed_oldest_first(folder: Path) -> None:
    assert [one.step for one in waiting(folder)] == ["bug/plan", "bug/script"]
    file_answer(folder, waiting(folder)[0].id, HOLDS)
    assert [one.step for one in waiting(folder)] == ["bug/script"]


def test_a_request_holds_all_that_an_answerer_needs_and_no_trace_of_the_machine(folder: Path) -> None:
    request = waiting(folder)[0].request
    assert request["format"] == "reenact-relay-request/1"
    assert request["system"] == "You judge."
    assert request["turns"] == [{"role": "user", "parts": [{"text": "Does it hold?"}]}]
    assert request["schema"]["required"] == ["holds", "why"]
    assert str(folder) not in json.dumps(request)


def test_the_beginning_of_an_id_is_enough(folder: Path) -> None:
    assert show_request(folder, "bug-script").step == "bug/script"
    with pytest.raises(InputError, match="Several requests begin"):
        show_request(folder, "bug-")
    with pytest.raises(InputError, match="No request begins"):
        show_request(folder, "../secret")


def test_an_answer_is_checked_before_it_is_filed(folder: Path) -> None:
    with pytest.raises(InputError, match="answer: 'why' is a required property"):
        file_answer(folder, "bug-plan", {"holds": True})
    assert len(waiting(folder)) == 2


def test_an_answer_is_not_changed_by_accident(folder: Path) -> None:
    file_answer(folder, "bug-plan", HOLDS)
    with pytest.raises(InputError, match="has an answer already"):
        file_answer(folder, "bug-plan", {**HOLDS, "why": "no"})
    file_answer(folder, "bug-plan", {**HOLDS, "why": "changed"}, replace=True)
    filed = take_answer(folder, show_request(folder, "bug-plan").id)
    assert filed is not None
    assert "changed" in filed.text


def test_an_answer_may_stand_in_chatter(folder: Path) -> None:
    file_text(folder, "bug-plan", f"I think:\n```json\n{json.dumps(HOLDS)}\n```\n", by="reader")
    filed = take_answer(folder, show_request(folder, "bug-plan").id)
    assert filed is not None
    assert (json.loads(filed.text), filed.by) == (HOLDS, "reader")
    with pytest.raises(InputError, match="no JSON object"):
        file_text(folder, "bug-script", "I do not know.")


def test_only_whole_files_are_ever_seen(folder: Path) -> None:
    file_answer(folder, "bug-plan", HOLDS)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": "other/1"}', '{"format": "reenact-relay-request/1"}']
)
def test_a_file_that_is_no_request_is_named(folder: Path, text: str) -> None:
    (folder / "odd.request.json").write_text(text)
    with pytest.raises(InputError, match=r"odd\.request\.json"):
        waiting(folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        waiting(tmp_path / "nowhere")


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "relay.md").read_text()
    request, answer = (json.loads(block.split("```")[0]) for block in text.split("```json\n")[1:])
    name = request["id"]
    (tmp_path / f"{name}.request.json").write_text(json.dumps(request))
    (found,) = waiting(tmp_path)
    assert found.request == request
    (tmp_path / f"{name}.answer.json").write_text(json.dumps(answer))
    filed = take_answer(tmp_path, name)
    assert filed is not None
    assert json.loads(filed.text) == answer["answer"]
    assert (filed.by, filed.usage) == ("a careful reader", Usage(812, 64))
    assert waiting(tmp_path) == []


def test_a_request_has_exactly_the_documented_keys(folder: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "relay.md").read_text()
    documented = json.loads(text.split("```json\n")[1].split("```")[0])
    assert waiting(folder)[0].request.keys() == documented.keys()
