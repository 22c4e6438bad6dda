from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.model import GOOD, Answering, LiveModelSuite, Verdict, question
from reenact.errors import BudgetSpent, InputError, ModelUnreachable, StorageError
from reenact.llm.ask import Image, Text, Usage
from reenact.llm.budget import Budget
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock, Patience
from reenact.llm.relay import file_answer, file_text, show_request, take_answer, waiting
from reenact.types import Progress

HOLDS = {"holds": True, "why": "it does"}


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Sequence[str]], None]]:
    """Somebody who answers what waits in the folder, with these raw texts."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def start(texts: Sequence[str]) -> None:
        def answer() -> None:
            left = list(texts)
            while left and not over.wait(0.01):
                for asked in waiting(tmp_path)[: len(left)]:
                    hidden = tmp_path / f".{asked.id}"
                    hidden.write_text(left.pop(0))
                    hidden.rename(tmp_path / f"{asked.id}.answer.txt")

        threads.append(threading.Thread(target=answer))
        threads[-1].start()

    yield start
    over.set()
    for thread in threads:
        thread.join()


class TestRelay(LiveModelSuite):
    @pytest.fixture
    def answering(self, tmp_path: Path, serve: Callable[[Sequence[str]], None]) -> Answering:
        def open_with(texts: Sequence[str]) -> object:
            serve(texts)
            return open_model(f"relay:{tmp_path}", patience=Patience(relay_s=60))

        return open_with  # type: ignore[return-value]


def asked_and_left(folder: Path, clock: ManualClock | None = None, **options: object) -> str:
    """Ask with nobody there; the request stays. Returns its id."""
    model = open_model(f"relay:{folder}", clock=clock or ManualClock(), **options)  # type: ignore[arg-type]
    with pytest.raises(ModelUnreachable):
        model.ask(question())
    return waiting(folder)[0].id


def test_nobody_answers_in_time(tmp_path: Path) -> None:
    clock = ManualClock()
    reported: list[Progress] = []
    model = open_model(
        f"relay:{tmp_path}",
        clock=clock,
        patience=Patience(relay_s=30),
        tell=reported.append,
    )
    with pytest.raises(ModelUnreachable, match="No one answered") as caught:
        model.ask(question())
    assert 30 <= sum(clock.slept) <= 32
    assert "reenact relay" in caught.value.next_step
    assert "waiting for an answer to suite-ask-0-" in reported[0].note


def test_a_long_wait_is_reported_once_a_minute(tmp_path: Path) -> None:
    reported: list[Progress] = []
    asked_and_left(tmp_path, patience=Patience(relay_s=600), tell=reported.append)
    assert len(reported) == 10


def test_an_answer_filed_later_is_found_by_the_next_run(tmp_path: Path) -> None:
    name = asked_and_left(tmp_path)
    file_answer(tmp_path, name, HOLDS, by="a reader")
    clock = ManualClock()
    answer = open_model(f"relay:{tmp_path}", clock=clock).ask(question())
    assert answer.value == Verdict(**HOLDS)
    assert answer.model == "relay:a reader"
    assert clock.slept == []


def test_each_sample_and_each_wording_is_its_own_request(tmp_path: Path) -> None:
    file_answer(tmp_path, asked_and_left(tmp_path), HOLDS)
    model = open_model(f"relay:{tmp_path}", clock=ManualClock())
    for other in (
        question(sample=1),
        question(words="Really?"),
        question("other/step"),
    ):
        with pytest.raises(ModelUnreachable):
            model.ask(other)
    assert len(waiting(tmp_path)) == 3


def test_a_bare_json_answer_will_do(tmp_path: Path) -> None:
    name = asked_and_left(tmp_path)
    (tmp_path / f"{name}.answer.json").write_text(GOOD)
    assert open_model(f"relay:{tmp_path}").ask(question()).value.holds


def test_usage_that_the_server_counted(tmp_path: Path) -> None:
    name = asked_and_left(tmp_path)
    filed = {
        "format": "reenact-relay-answer/1",
        "id": name,
        "answer": HOLDS,
        "usage": {"input_tokens": 12, "output_tokens": 3},
    }
    (tmp_path / f"{name}.answer.json").write_text(json.dumps(filed))
    usage = open_model(f"relay:{tmp_path}").ask(question()).usage
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (12, 3, False)


def test_figures_lie_beside_the_request(tmp_path: Path) -> None:
    asked = question()
    prompt = replace(
        asked.prompt,
        parts=(Text("Look:"), Image(b"one"), Image(b"two", "image/jpeg", "Figure 2")),
    )
    with pytest.raises(ModelUnreachable):
        open_model(f"relay:{tmp_path}", clock=ManualClock()).ask(replace(asked, prompt=prompt))
    request = waiting(tmp_path)[0].request
    _, first, second = request["turns"][0]["parts"]
    assert (tmp_path / first["image"]).read_bytes() == b"one"
    assert (tmp_path / second["image"]).read_bytes() == b"two"
    assert second["label"] == "Figure 2"


def test_the_wait_ends_with_the_budget(tmp_path: Path) -> None:
    clock = ManualClock()
    budget = Budget(seconds=20, clock=clock)
    model = open_model(f"relay:{tmp_path}", clock=clock, budget=budget)
    with pytest.raises(ModelUnreachable):
        model.ask(question())
    assert sum(clock.slept) < 22
    with pytest.raises(BudgetSpent):
        model.ask(question())


@pytest.mark.parametrize("trap", ["link", "fifo", "folder"])
def test_traps_in_the_folder_are_refused(tmp_path: Path, trap: str) -> None:
    import os

    secret = tmp_path / "secret"
    secret.write_text(GOOD)
    name = asked_and_left(tmp_path / "relay")
    answer = tmp_path / "relay" / f"{name}.answer.txt"
    {
        "link": lambda: answer.symlink_to(secret),
        "fifo": lambda: os.mkfifo(answer),
        "folder": answer.mkdir,
    }[trap]()
    with pytest.raises(InputError, match=r"answer\.txt"):
        open_model(f"relay:{tmp_path / 'relay'}", clock=ManualClock()).ask(question())


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="relay folder cannot be used"):
        open_model(f"relay:{tmp_path / 'file' / 'relay'}")


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


def test_a_request_holds_all_that_an_answerer_needs_and_no_trace_of_the_machine(
    folder: Path,
) -> None:
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
    file_text(
        folder,
        "bug-plan",
        f"I think:\n```json\n{json.dumps(HOLDS)}\n```\n",
        by="reader",
    )
    filed = take_answer(folder, show_request(folder, "bug-plan").id)
    assert filed is not None
    assert (json.loads(filed.text), filed.model) == (HOLDS, "relay:reader")
    with pytest.raises(InputError, match="no JSON object"):
        file_text(folder, "bug-script", "I do not know.")


def test_only_whole_files_are_ever_seen(folder: Path) -> None:
    file_answer(folder, "bug-plan", HOLDS)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": "other/1"}', '{"format": "reenact-relay-request/1"}'],
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
    assert (filed.model, filed.usage) == ("relay:a careful reader", Usage(812, 64))
    assert waiting(tmp_path) == []


def test_a_request_has_exactly_the_documented_keys(folder: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "relay.md").read_text()
    documented = json.loads(text.split("```json\n")[1].split("```")[0])
    assert waiting(folder)[0].request.keys() == documented.keys()
