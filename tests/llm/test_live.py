from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from contracts.model import GOOD, Verdict, question
from reenact.errors import (
    AnswerUnusable,
    BudgetSpent,
    ModelError,
    ModelRefused,
    ModelUnreachable,
    PromptTooLong,
)
from reenact.llm.ask import Call, Image, Reply, Text, Transient, Usage
from reenact.llm.budget import Budget
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock
from reenact.llm.recording import Replay
from reenact.llm.scripted import Scripted


def test_a_repair_tells_what_was_wrong_and_shows_the_answer() -> None:
    model = Scripted(['{"holds": "perhaps"}', GOOD])
    model.ask(question())
    first, second = model.calls
    assert second.turns[0] == first.turns[0]
    echo, complaint = second.turns[1:]
    assert echo.role == "assistant"
    assert echo.parts == (Text('{"holds": "perhaps"}'),)
    assert isinstance(complaint.parts[0], Text)
    assert "holds: Input should be a valid boolean" in complaint.parts[0].text


def test_a_long_bad_answer_is_shown_in_part() -> None:
    model = Scripted(["".join(map(str, range(20_000))), GOOD])
    model.ask(question())
    echoed = model.calls[1].turns[1].parts[0]
    assert isinstance(echoed, Text)
    assert len(echoed.text) < 5000
    assert "characters left out" in echoed.text


def test_usage_and_cost_add_up_over_the_attempts() -> None:
    replies = [Reply(text, "m", usage=Usage(10, 5), cost=Decimal("0.1")) for text in ("bad", GOOD)]
    answer = Scripted(replies).ask(question())
    assert (answer.usage, answer.cost, answer.attempts) == (
        Usage(20, 10),
        Decimal("0.2"),
        2,
    )


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    replies = [Reply("bad", "m", cost=Decimal("0.1")), Reply(GOOD, "m")]
    assert Scripted(replies).ask(question()).cost is None


def test_a_text_model_gets_the_schema_and_labels_of_figures_it_cannot_see() -> None:
    asked = question()
    prompt = replace(asked.prompt, parts=(Text("Look."), Image(b"", label="Figure 3: loss")))
    model = Scripted([GOOD])
    model.ask(replace(asked, prompt=prompt))
    text = model.calls[0].as_text()
    assert "[figure not shown: Figure 3: loss]" in text
    assert '"holds"' in text


def faulty(rng: random.Random, rate: float) -> object:
    """A wire that fails in any way it can, at that rate."""
    faults = [
        Transient("it answered 503"),
        Transient("it answered 429", retry_after_s=30.0),
        Transient("its reply could not be read", billed=True),
        ModelRefused("no"),
        PromptTooLong("too long"),
        "",
        "no JSON",
        '{"holds": true',
        '{"holds": NaN, "why": ""}',
        Reply(GOOD, "m", finish="length"),
        Reply("never", "m", finish="refused"),
        Reply("", "m", strays=("rm",)),
        Reply("", "m", offers=(GOOD, "{}")),
    ]

    def answer(call: Call) -> object:
        return rng.choice(faults) if rng.random() < rate else GOOD

    return answer


@pytest.mark.parametrize("rate", [0.2, 0.9])
def test_a_thousand_asks_with_random_faults_end_in_an_answer_or_a_named_stop(
    rate: float,
) -> None:
    rng = random.Random(7)
    clock = ManualClock()
    budget = Budget(calls=1500, clock=clock)
    model = Scripted(faulty(rng, rate), budget=budget, clock=clock)  # type: ignore[arg-type]
    endings: Counter[str] = Counter()
    for nth in range(1000):
        try:
            assert model.ask(question(f"step[{nth}]")).value == Verdict.model_validate_json(GOOD)
            endings["answered"] += 1
        except (ModelError, BudgetSpent) as error:
            endings[type(error).__name__] += 1
    assert sum(endings.values()) == 1000
    assert endings["answered"] > (900 if rate == 0.2 else 20)
    assert budget.spent.calls <= 1500


def test_each_named_stop_happens() -> None:
    endings = {
        AnswerUnusable: ["bad"] * 3,
        ModelUnreachable: [Transient("503")] * 6,
        ModelRefused: [Reply("no", "m", finish="refused")],
        PromptTooLong: [PromptTooLong("too long")],
    }
    for kind, script in endings.items():
        with pytest.raises(kind):
            Scripted(script).ask(question())  # type: ignore[arg-type]


def test_a_run_is_recorded_and_becomes_a_model(tmp_path: Path) -> None:
    script = tmp_path / "assistant.py"
    script.write_text(f"import sys; sys.stdin.read(); print({GOOD!r})")
    file = tmp_path / "deep" / "run.jsonl"
    answer = open_model(f"command:{sys.executable} {script}", record_to=file).ask(question())
    again = open_model(f"replay:{file}").ask(question())
    assert again.value == answer.value
    assert again.model == answer.model


def test_a_home_folder_may_be_abbreviated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    open_model("relay:~/relay")
    assert (tmp_path / "relay").is_dir()
    (tmp_path / "run.jsonl").touch()
    assert isinstance(open_model("replay:~/run.jsonl"), Replay)
