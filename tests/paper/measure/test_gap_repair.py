"""What the paper fixes stays; what it leaves open may change; and a change is reported as a
hypothesis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reenact.codegen.project import Project
from reenact.codegen.runner import MountedSandbox
from reenact.journal import Journal
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
from reenact.paper.measure.gap import Comparison, Grade
from reenact.paper.measure.gap_repair import (
    ConstrainedExecutor,
    Gap,
    fixed_hyperparameters,
    forbidden,
    hypothesis,
    is_large,
    repair_gap,
)
from reenact.probe.outcome import OutcomeKind
from reenact.program.edit.change import Insert, Set
from reenact.program.hyperparameter import Kind as Hyperparameter
from reenact.program.patch import Patch
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.trial import Trial

TRAIN = """import torch
from torch import nn

x, y = torch.randn(64, 4), torch.randint(0, 2, (64,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for epoch in range(5):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
PROGRAM = program_from_text(TRAIN)


def criterion(name: str, check: CriterionCheck | None) -> Criterion:
    return Criterion(
        name,
        "fact",
        "training",
        "quote",
        ("1",),
        Level.CONFIGURATION,
        Category.SETUP,
        1,
        check,
    )


def kinds(
    criteria: list[Criterion], judged: list[Judged] | None = None
) -> dict[Hyperparameter, str]:
    found = fixed_hyperparameters(hyperparameters_of(PROGRAM), criteria, judged or [])
    return {param.kind: by for param, by in found.items()}


def test_a_check_fixes_what_it_names_and_nothing_else() -> None:
    found = kinds(
        [
            criterion("F1", CriterionCheck(Kind.PARAMETER, "number of epochs", "5")),
            criterion("F2", None),
        ]
    )
    assert found == {Hyperparameter.EPOCHS: "F1"}
    assert Hyperparameter.UNITS in kinds(
        [criterion("F3", CriterionCheck(Kind.LAYER, "hidden layer", "8"))]
    )
    assert kinds([criterion("F4", CriterionCheck(Kind.OPTIMISER, "optimiser", "SGD"))]) == {
        Hyperparameter.OPTIMIZER: "F4"
    }


def test_a_line_that_a_pass_rests_on_is_fixed() -> None:
    line = CodeLine("train.py", 6, "lr=0.001")
    passed = Judged("F1", Value.PASS, "judge", "as the paper says", (line,))
    failed = Judged("F1", Value.FAIL, "judge", "not so", (line,))
    assert kinds([], [passed])[Hyperparameter.LEARNING_RATE] == "F1"
    assert kinds([], [failed]) == {}


def test_a_change_that_contradicts_the_paper_is_not_trained(context: Any) -> None:
    params = {param.kind: param.id for param in hyperparameters_of(PROGRAM)}
    criteria = [
        criterion("F1", CriterionCheck(Kind.PARAMETER, "learning rate", "0.001")),
        criterion("F2", CriterionCheck(Kind.LAYER, "hidden layer", "8")),
    ]
    fixed = fixed_hyperparameters(hyperparameters_of(PROGRAM), criteria, ())
    rate = Patch((Set(params[Hyperparameter.LEARNING_RATE], 0.1),))
    layer = Patch((Insert(params[Hyperparameter.LAYER], "Dropout", {"p": 0.5}),))
    assert "contradicts F1" in forbidden(rate, fixed)
    assert "contradicts F2" in forbidden(layer, fixed)
    assert forbidden(Patch((Set(params[Hyperparameter.EPOCHS], 9),)), fixed) == ""
    with ConstrainedExecutor(
        fixed, sandbox=MountedSandbox(context().runner), python=""
    ) as executor:
        outcomes = executor.run([Trial(PROGRAM, rate, 1), Trial(PROGRAM, layer, 1)])
    assert [one.kind for one in outcomes] == [OutcomeKind.NOT_STARTED] * 2


def test_a_change_is_a_hypothesis() -> None:
    rate = next(
        param.id
        for param in hyperparameters_of(PROGRAM)
        if param.kind is Hyperparameter.LEARNING_RATE
    )
    assert hypothesis(PROGRAM, Set(rate, 0.1)) == (
        "The paper does not say it, but its numbers come out nearer with learning-rate 0.1 in "
        "place of 0.001 (train.py:6)."
    )


def compared(claim: Any, gap: float) -> tuple[Comparison, ...]:
    return (Comparison(claim(), "accuracy", 50.0, None, 1, gap, Grade.D),)


def test_only_a_large_gap_is_worth_it(claim: Any) -> None:
    assert is_large(compared(claim, 0.3))
    assert not is_large(compared(claim, 0.05))
    assert not is_large(())


def test_what_is_better_than_the_paper_says_is_not_repaired(
    claim: Any, context: Any, journal: Journal
) -> None:
    better = (replace(compared(claim, 0.3)[0], measured=99.9, claim=claim(value=60.0)),)
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        found = repair_gap(Gap(Project(), (), (), better, lambda _: better), context(), run)
    assert "nothing to repair" in found.sentence


def tried(
    project: Project,
    criteria: list[Criterion],
    claim: Any,
    context: Any,
    journal: Journal,
) -> Any:
    measured: list[Project] = []

    def measure(changed: Project) -> tuple[Comparison, ...]:
        measured.append(changed)
        return compared(claim, 0.0)

    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        found = repair_gap(
            Gap(project, tuple(criteria), (), compared(claim, 0.5), measure),
            context(),
            run,
        )
    assert measured == []
    assert found.diff == ""
    return found


def test_nothing_is_tried_where_the_paper_fixes_all(
    claim: Any, context: Any, journal: Journal
) -> None:
    checks = [
        CriterionCheck(Kind.PARAMETER, name, "1")
        for name in (
            "learning rate",
            "epochs",
            "batch",
            "activation",
            "initialisation",
            "hidden units",
            "loss",
            "optimiser",
            "momentum",
            "weight decay",
            "dropout",
            "clipping",
            "schedule",
            "shuffle",
            "normalisation",
            "l2",
        )
    ]
    criteria = [criterion(f"F{number}", check) for number, check in enumerate(checks)]
    found = tried(Project({"train.py": TRAIN}), criteria, claim, context, journal)
    assert found.sentence == "The paper fixes every setting that could be changed."
    assert any("learning-rate" in one and "F0" in one for one in found.kept_fixed)


def test_a_program_without_settings_is_not_repaired(
    claim: Any, context: Any, journal: Journal
) -> None:
    found = tried(Project({"train.py": "print(sum(range(10)))\n"}), [], claim, context, journal)
    assert found.sentence == "The code has no setting that a repair could change."
