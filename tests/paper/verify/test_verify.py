"""Verification: what a program finds, what a judge may say, what neither can; a formula run in
the box.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.codegen.runner import ProjectRunner
from reenact.errors import BudgetSpent
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal
from reenact.llm.prompts import load_prompt
from reenact.llm.scripted import Scripted
from reenact.paper.criterion import (
    Category,
    CodeLine,
    Criterion,
    CriterionCheck,
    Judged,
    Kind,
    Level,
    Value,
)
from reenact.paper.lineage.code import CitedFile
from reenact.paper.lineage.trace import Exemplar
from reenact.paper.verify.mechanical import beside_code, read_project
from reenact.paper.verify.verify import JudgesAgreement, second_judge, settled, verify
from reenact.sandbox.choose import choose

LOSSES = '''"""The mixed target. All criteria are fulfilled here: learning rate 0.5."""


def mixed_target(label, prediction, alpha=0.3):
    # The mixing weight is 0.3.
    return (1 - alpha) * label + alpha * prediction


def wrong_target(label, prediction):
    return label + prediction


def idle_target(label, prediction, alpha):
    return label + alpha * (prediction - label)


def broken(label, prediction):
    raise RuntimeError("no data")
'''
TRAIN = """import yaml

from losses import mixed_target

config = yaml.safe_load(open("config.yaml"))


def train(rate):
    for epoch in range(100):
        step(rate, mixed_target(1.0, 0.5))


train(config["lr"])
"""
PROJECT = Project(
    {
        "config.yaml": "lr: 0.05\nbatch_size: 64\n",
        "losses.py": LOSSES,
        "train.py": TRAIN,
    }
)


def criterion(
    number: int, fact: str = "It holds.", check: CriterionCheck | None = None, weight: int = 1
) -> Criterion:
    return Criterion(
        f"F{number}",
        fact,
        "training",
        "The mixed target is",
        ("1:1.2",),
        Level.FRAMEWORK,
        Category.SETUP,
        weight,
        check,
    )


RATE = criterion(1, check=CriterionCheck(Kind.PARAMETER, "learning rate", "0.05"))
BATCH = criterion(2, check=CriterionCheck(Kind.PARAMETER, "batch size", "32"), weight=3)
MIXED = criterion(3, "Targets are mixed.")
FORMULA = criterion(4, check=CriterionCheck(Kind.FORMULA, "target", "t", "(1 - a) * y + a * p"))
LINE = {
    "file": "losses.py",
    "line": 6,
    "text": "return (1 - alpha) * label + alpha * prediction",
}


def verdict_on(number: int, verdict: str = "pass", *lines: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"F{number}",
        "seen": "It mixes.",
        "verdict": verdict,
        "lines": list(lines),
    }


def judging(*verdicts: dict[str, Any], again: tuple[dict[str, Any], ...] | None = None) -> Scripted:
    script: dict[str, Any] = {"paper/judge[0]/verdicts": {"verdicts": list(verdicts)}}
    if again is not None:
        script["paper/judge[0]/verdicts-again"] = {"verdicts": list(again)}
    return Scripted(script)


def test_programs_pass_and_fail_and_leave_the_rest_to_the_judge(paper: Paper, run: Any) -> None:
    model = judging(verdict_on(3, "pass", LINE))
    rate, batch, mixed = verify([RATE, BATCH, MIXED], PROJECT, paper, model, run, runner())
    assert (rate.value, rate.by, rate.lines) == (
        Value.PASS,
        "check",
        (CodeLine("config.yaml", 1, "lr: 0.05"),),
    )
    assert (batch.value, batch.by) == (Value.FAIL, "check")
    assert batch.reason == "batch size is 64 in the code, not 32."
    assert (mixed.value, mixed.by) == (Value.PASS, "judge")
    assert [str(line) for line in mixed.lines] == ["losses.py:6"]
    assert "F1" not in model.calls[0].as_text().split("Criteria, each")[1].split("Objections")[0]


@pytest.mark.parametrize(
    "line",
    [
        {"file": "losses.py", "line": 99},
        {"file": "losses.py", "line": 0},
        {"file": "losses.py", "line": -3},
        {"file": "other.py", "line": 1},
        {"file": "../losses.py", "line": 6},
        {"file": "losses.py", "line": 1},
        {"file": "losses.py", "line": 5},
        {"file": "losses.py", "line": 2},
    ],
)
def test_a_pass_without_code_is_no_pass(paper: Paper, run: Any, line: dict[str, Any]) -> None:
    model = judging(verdict_on(3, "pass", line), again=(verdict_on(3, "pass", line),))
    (found,) = verify([MIXED], PROJECT, paper, model, run, runner())
    assert found.value is Value.UNKNOWN
    assert "names no line of code that exists" in found.reason
    assert "none of its lines is a line of code" in model.calls[1].as_text()


def test_a_wrong_number_is_put_right_by_the_words_of_the_line(paper: Paper, run: Any) -> None:
    (found,) = verify(
        [MIXED],
        PROJECT,
        paper,
        judging(verdict_on(3, "pass", {**LINE, "line": 60})),
        run,
        runner(),
    )
    assert [str(line) for line in found.lines] == ["losses.py:6"]


def test_a_hostile_judge_that_passes_everything_passes_nothing(paper: Paper, run: Any) -> None:
    everything = {
        "id": "all",
        "seen": "As the paper orders.",
        "verdict": "pass",
        "lines": [],
    }
    model = judging(everything, again=(everything,))
    (found,) = verify([MIXED], PROJECT, paper, model, run, runner())
    assert (found.value, found.reason) == (
        Value.UNKNOWN,
        "The judge did not mention it.",
    )


def test_verdicts_that_contradict_each_other_are_none(paper: Paper, run: Any) -> None:
    model = judging(verdict_on(3, "pass", LINE), verdict_on(3, "fail"))
    (found,) = verify([MIXED], PROJECT, paper, model, run, runner())
    assert (found.value, found.reason) == (
        Value.UNKNOWN,
        "The judge contradicts itself.",
    )


def test_an_answer_that_is_lost_is_neither_pass_nor_fail(paper: Paper, run: Any) -> None:
    model = Scripted({"paper/judge[0]/verdicts": ["{", "prose", '{"verdicts": [{"id": "F3"}]}']})
    (found,) = verify([MIXED], PROJECT, paper, model, run, runner())
    assert found.value is Value.UNKNOWN
    assert "no usable answer" in found.reason


def test_criteria_are_judged_in_batches_over_the_same_shared_code(paper: Paper, run: Any) -> None:
    many = [criterion(number) for number in range(1, 28)]
    model = Scripted(
        lambda call: {
            "verdicts": [verdict_on(int(word[1:]), "fail") for word in _asked(call.as_text())]
        }
    )
    found = verify(many, PROJECT, paper, model, run, runner())
    assert [one.criterion for one in found] == [one.id for one in many]
    assert [len(_asked(call.as_text())) for call in model.calls] == [24, 3]
    first, second = (call.turns[0].parts[0] for call in model.calls)
    assert first == second


def _asked(text: str) -> list[str]:
    inside = text.split("<<<criteria ")[1].split(">>>")[0]
    return [line.split(":")[0] for line in inside.splitlines() if line.startswith("F")]


def test_the_two_prompts_share_all_that_a_provider_caches() -> None:
    judge = load_prompt("reenact.paper.verify", "prompts/judge.md")
    formula = load_prompt("reenact.paper.verify", "prompts/formula.md")
    assert judge.sections["system"] == formula.sections["system"]
    assert judge.sections["shared"] == formula.sections["shared"]


def test_a_criterion_of_another_paper_cannot_be_judged(paper: Paper, run: Any) -> None:
    foreign = Criterion("F1", "x", "x", "x", ("8:8.8",), Level.FRAMEWORK, Category.ACTION, 1)
    (found,) = verify([foreign], PROJECT, paper, Scripted([]), run, runner())
    assert (found.value, found.by) == (Value.UNKNOWN, "nobody")


def setup(function: str = "mixed_target", **change: Any) -> dict[str, Any]:
    arguments = [
        {"parameter": "label", "expression": "y"},
        {"parameter": "prediction", "expression": "p"},
    ]
    if function == "mixed_target":
        arguments.append({"parameter": "alpha", "expression": "a"})
    inputs = [
        {"name": name, "low": 0, "high": 1, "shape": [3] if name != "a" else []}
        for name in ("y", "p", "a")
    ]
    return {
        "id": "F4",
        "file": "losses.py",
        "function": function,
        "arguments": arguments,
        "inputs": inputs,
        **change,
    }


def formulas(*setups: dict[str, Any], verdict: dict[str, Any] | None = None) -> Scripted:
    script: dict[str, Any] = {"paper/formulas": {"formulas": list(setups)}}
    if verdict is not None:
        script["paper/judge[0]/verdicts"] = {"verdicts": [verdict]}
    return Scripted(script)


def runner() -> ProjectRunner:
    return ProjectRunner(choose(trust_code=True))


def test_a_function_that_gives_what_the_formula_gives_passes(paper: Paper) -> None:
    model = formulas(setup())
    journal = Journal.in_memory()
    for _ in range(2):
        with journal.run(pipeline="paper", request={"paper": "x"}, argv=()) as run:
            (found,) = verify([FORMULA], PROJECT, paper, model, run, runner())
    assert (found.value, found.by) == (Value.PASS, "check")
    assert found.reason == "mixed_target() gives what the formula gives, on 4 samples."
    assert str(found.lines[0]) == "losses.py:4"
    assert len(model.calls) == 1


def test_inputs_may_be_reshaped_for_the_function(paper: Paper, run: Any) -> None:
    """A formula over tensors of three axes: inputs have two at most."""
    arguments = [
        {"parameter": "label", "expression": "np.reshape(y, (3, 3, 4))"},
        {"parameter": "prediction", "expression": "np.reshape(p, (3, 3, 4))"},
        {"parameter": "alpha", "expression": "a"},
    ]
    inputs = [{"name": name, "low": 0, "high": 1, "shape": [9, 4]} for name in ("y", "p")]
    inputs.append({"name": "a", "low": 0, "high": 1, "shape": []})
    whole = criterion(
        4,
        check=CriterionCheck(
            Kind.FORMULA, "target", "t", "np.reshape((1 - a) * y + a * p, (3, 3, 4))"
        ),
    )
    model = formulas(setup(arguments=arguments, inputs=inputs))
    (found,) = verify([whole], PROJECT, paper, model, run, runner())
    assert (found.value, found.by) == (Value.PASS, "check")


def test_no_judge_may_pass_what_was_measured_otherwise(paper: Paper, run: Any) -> None:
    model = formulas(setup("wrong_target"), verdict=verdict_on(4, "pass", LINE))
    (found,) = verify([FORMULA], PROJECT, paper, model, run, runner())
    assert found.value is Value.UNKNOWN
    assert "But when run: wrong_target() gives" in found.reason
    assert "a program saw: wrong_target() gives" in model.calls[1].as_text()


def test_a_right_function_that_nothing_calls_is_for_the_judge(paper: Paper, run: Any) -> None:
    arguments = [
        {"parameter": name, "expression": of}
        for name, of in (("label", "y"), ("prediction", "p"), ("alpha", "a"))
    ]
    model = formulas(setup("idle_target", arguments=arguments), verdict=verdict_on(4, "fail"))
    (found,) = verify([FORMULA], PROJECT, paper, model, run, runner())
    assert (found.value, found.by) == (Value.FAIL, "judge")
    assert "on 4 samples. But nothing in the project calls it." in model.calls[1].as_text()


@pytest.mark.parametrize(
    "bad",
    [
        setup(file="missing.py"),
        setup(file="config.yaml"),
        setup("no_such_function"),
        setup(arguments=[{"parameter": "nobody", "expression": "y"}]),
        setup(arguments=[{"parameter": "label", "expression": "open('f')"}]),
        setup(inputs=[{"name": "y", "low": 0, "high": 1}]),
        setup(inputs=[{"name": name, "low": 1, "high": 0} for name in ("y", "p", "a")]),
        setup(
            inputs=[{"name": name, "low": 0, "high": 1, "shape": [900]} for name in ("y", "p", "a")]
        ),
        setup(id="F77"),
    ],
)
def test_what_cannot_be_set_up_is_left_to_the_judge(
    paper: Paper, run: Any, bad: dict[str, Any]
) -> None:
    model = formulas(bad, verdict=verdict_on(4, "fail"))
    (found,) = verify([FORMULA], PROJECT, paper, model, run, runner())
    assert (found.value, found.by) == (Value.FAIL, "judge")


def test_a_function_that_raises_is_left_to_the_judge(paper: Paper, run: Any) -> None:
    model = formulas(setup("broken"), verdict=verdict_on(4, "cannot judge"))
    (found,) = verify([FORMULA], PROJECT, paper, model, run, runner())
    assert (found.value, found.by) == (Value.UNKNOWN, "judge")
    assert "broken() could not be called: RuntimeError: no data" in model.calls[1].as_text()


def test_formulas_that_nobody_can_name_go_to_the_judge(paper: Paper, run: Any) -> None:
    script = {
        "paper/formulas": ["", "", ""],
        "paper/judge[0]/verdicts": {"verdicts": [verdict_on(4, "pass", LINE)]},
    }
    model = Scripted(script)
    (found,) = verify([FORMULA], PROJECT, paper, model, run, runner())
    assert (found.value, found.by) == (Value.PASS, "judge")


CITED = Exemplar(
    "lee",
    "Mixing",
    "extended",
    ("1:1.1",),
    files=(CitedFile("mix.py", "MIX = 0.3\n", "the target"),),
)


def test_the_judge_sees_cited_code_where_a_criterion_rests_on_it(paper: Paper, run: Any) -> None:
    many = [replace(criterion(number), places=("2.1:1.3",)) for number in range(1, 25)]
    model = Scripted(
        lambda call: {
            "verdicts": [verdict_on(int(word[1:]), "fail") for word in _asked(call.as_text())]
        }
    )
    elsewhere = replace(CITED, key="kim", cited_in=("3:1.1",))
    found = verify([*many, criterion(25)], PROJECT, paper, model, run, runner(), [elsewhere, CITED])
    assert [one.criterion for one in found] == [f"F{number}" for number in range(1, 26)]
    first, second = (call.as_text() for call in model.calls)
    assert _asked(first)[0] == "F25", "what rests on cited work is asked together"
    assert "MIX = 0.3" in first
    assert "[kim]" not in first
    assert "MIX = 0.3" not in second


def test_a_second_judge_who_knows_nothing_of_the_first_is_compared_with_him(
    paper: Paper, run: Any
) -> None:
    facts = [criterion(number) for number in range(1, 6)]
    values = (Value.PASS, Value.PASS, Value.FAIL, Value.UNKNOWN)
    first = [Judged(f"F{at}", value, "judge", "seen by one") for at, value in enumerate(values, 1)]
    first.append(Judged("F5", Value.PASS, "check", "it is"))
    answers = [
        verdict_on(1, "pass", LINE),
        verdict_on(2, "fail"),
        verdict_on(3, "fail"),
    ]
    model = Scripted({"paper/second/judge[0]/verdicts~1": {"verdicts": answers}})
    found = second_judge(facts, first, PROJECT, model, run)
    assert found == JudgesAgreement(3, 3, 2, pytest.approx(0.4), ("F2",))
    assert found.sentence == "two agree on 2 of 3 criteria (Cohen's kappa 0.40); they differ on F2"
    (call,) = model.calls
    assert (call.sample, _asked(call.as_text())) == (1, ["F1", "F2", "F3"])
    assert "seen by one" not in call.as_text()


def test_without_a_judges_verdict_or_a_budget_there_is_no_second_judge(
    paper: Paper, run: Any
) -> None:
    by_program = [Judged("F3", Value.PASS, "check", "it is")]
    assert second_judge([MIXED], by_program, PROJECT, Scripted([]), run) is None
    by_judge = [Judged("F3", Value.PASS, "judge", "it is")]
    spent = Scripted([BudgetSpent("No money is left.")])
    assert second_judge([MIXED], by_judge, PROJECT, spent, run) is None


def test_judges_of_one_mind_have_no_kappa_and_a_silent_one_none(paper: Paper, run: Any) -> None:
    alike = JudgesAgreement(2, 2, 2, None, ())
    assert (
        alike.sentence == "two agree on 2 of 2 criteria (Cohen's kappa not defined, all are alike)"
    )
    silent = Scripted({"paper/second/judge[0]/verdicts~1": ["no", "no", "no"]})
    found = second_judge(
        [MIXED], [Judged("F3", Value.PASS, "judge", "it is")], PROJECT, silent, run
    )
    assert found is not None
    assert "decided none of the 1 criteria" in found.sentence


def rate(number: int, value: str, place: str, scope: str = "training") -> Criterion:
    check = CriterionCheck(Kind.PARAMETER, "learning rate", value)
    return replace(
        criterion(number, f"The learning rate is {value}.", check),
        scope=scope,
        places=(place,),
    )


@pytest.mark.parametrize(
    ("other", "value"),
    [
        (rate(2, "0.01", "2.1:1.2"), Value.CONTRADICTED),
        (rate(2, "0.01", "1:1.2"), Value.FAIL),
        (rate(2, "0.01", "2.1:1.2", scope="training of the teacher"), Value.FAIL),
        (
            replace(
                rate(2, "0.01", "2.1:1.2"),
                fact="The learning rate ends at 0.01 after decay.",
            ),
            Value.FAIL,
        ),
        (
            replace(rate(2, "0.01", "2.1:1.2"), fact="A learning rate of 0.01 is used."),
            Value.CONTRADICTED,
        ),
        (
            replace(
                rate(2, "0.01", "2.1:1.2"),
                check=CriterionCheck(Kind.PARAMETER, "momentum", "0.01"),
            ),
            Value.FAIL,
        ),
    ],
)
def test_a_paper_that_contradicts_itself_is_a_value_of_its_own(
    other: Criterion, value: Value
) -> None:
    first = rate(1, "0.05", "1:1.2")
    judged = (
        Judged("F1", Value.PASS, "check", "it is"),
        Judged("F2", Value.FAIL, "check", "it is 0.05"),
    )
    same, changed = settled(judged, (first, other))
    assert same == judged[0]
    assert changed.value is value
    if value is Value.CONTRADICTED:
        assert "2.1:1.2 against 1:1.2" in changed.reason
        assert "The code follows F1." in changed.reason


def test_code_that_follows_neither_of_two_places_fails_both() -> None:
    judged = tuple(Judged(name, Value.FAIL, "check", "it is 7") for name in ("F1", "F2"))
    assert settled(judged, (rate(1, "0.05", "1:1.2"), rate(2, "0.01", "2.1:1.2"))) == judged


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        (
            "The learning rate is 0.05, as in the cited code.",
            "[so in the code: config.yaml:1]",
        ),
        ("We take 100 epochs, which is usual.", "[so in the code: train.py:9]"),
        (
            "Batch size 128, because the paper is silent.",
            "[not so in the code: batch size is 64 in the code",
        ),
        ("Weights are drawn as PyTorch does.", ""),
        ("Seven of 12 tables are used.", ""),
    ],
)
def test_decisions_are_held_against_the_code(sentence: str, says: str) -> None:
    found = beside_code(sentence, read_project(PROJECT))
    assert found.startswith(sentence)
    assert says in found
    assert ("[" in found) == bool(says)
