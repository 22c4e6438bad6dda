"""llm: proposals of a scripted model are trained; what names no hyperparameter is dropped; nothing
is believed.
"""

from __future__ import annotations

import json

import pytest

from reenact.errors import MissingPart
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.program.hyperparameter import Kind
from reenact.repairs.strategies.llm import Llm
from reenact.testing.strategy import Given, rate_decides, search_context


def asked(*answers: object) -> Given:
    given = search_context(rate_decides, strategy="llm")
    given.context.options = type(given.context.options)(strategy="llm", samples=len(answers))
    given.context.model = Scripted([json.dumps(answer) for answer in answers])
    run = Journal.in_memory().run(pipeline="test", request={"for": "llm"}).__enter__()
    given.context.questions = run.under("model")
    return given


def turn(kind: Kind, value: object) -> dict[str, object]:
    context = search_context(rate_decides).context
    name = next(str(param.id) for param in context.hyperparameters if param.kind is kind)
    return {"turns": [{"knob": name, "value": value}]}


def test_a_good_proposal_is_found_by_training_it() -> None:
    given = asked(turn(Kind.BATCH_SIZE, 64), turn(Kind.LEARNING_RATE, 0.01))
    (best,) = Llm().search(given.context)
    assert [change.hyperparameter.kind for change in best.changes] == [Kind.LEARNING_RATE]


def test_a_boast_is_not_believed() -> None:
    boast = turn(Kind.BATCH_SIZE, 64)
    boast["turns"][0]["reason"] = "This repairs everything."  # type: ignore[index]
    assert Llm().search(asked(boast).context) == []


def test_hyperparameters_that_do_not_exist_are_dropped() -> None:
    mixed = turn(Kind.LEARNING_RATE, 0.01)
    mixed["turns"].append({"knob": "rm -rf", "value": "/"})  # type: ignore[attr-defined]
    (best,) = Llm().search(asked(mixed).context)
    assert best.complexity == 1


def test_without_a_model_it_says_so() -> None:
    with pytest.raises(MissingPart, match="model"):
        Llm().search(search_context(rate_decides, strategy="llm").context)
