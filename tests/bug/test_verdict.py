"""What runs prove, on both sides of every bound and condition that decides a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.context.index import build_index
from reenact.bug.environment import prepare
from reenact.bug.generate import Case
from reenact.bug.options import BugAblations, BugOptions
from reenact.bug.project_files import project_files
from reenact.bug.reproduction import Attempt, Controls, Stage, Verdict
from reenact.bug.script_runner import Frame, Revision, RunObservation, ScriptRunner
from reenact.bug.symptom import Symptom
from reenact.bug.verdict import (
    not_confirmed,
    not_shown,
    raises_now,
    same_failure,
    verdict_of,
    verdict_on,
)
from reenact.codegen.project import Problem
from reenact.codegen.runner import ProjectRunner
from reenact.llm.scripted import Scripted
from reenact.sandbox.box import Ending
from reenact.types import Stop, tell_nobody

RAW = """Meter crashes

I make a Meter with window 7 and call mean() at once: ZeroDivisionError: division by zero
"""
EXPLICIT = {
    "kind": "explicit",
    "sign": "crash",
    "words": "It divides by zero.",
    "explicit": {"exception": "ZeroDivisionError", "message": "division by zero"},
}
FRAME = Frame("project", "acme/losses.py", 33, "mean", "Meter.mean")
SCRIPT = "from acme import Meter\n\nMeter(7).mean()\n"


def silent(relation: str, number: float | None = None, text: str = "") -> dict[str, Any]:
    check = {"relation": relation, "number": number, "text": text}
    return {
        "kind": "silent",
        "sign": "wrong-value",
        "words": "It is wrong.",
        "check": check,
    }


@pytest.fixture
def case(toy: Any) -> Case:
    buggy = Revision("buggy", project_files(toy.folder / "buggy"))
    environment = prepare(buggy.files, (), None, BugOptions(environment="here"), None)
    return Case(
        raw=RAW,
        report=RAW,
        symptom=Symptom.model_validate(EXPLICIT),
        contexts=(),
        code=build_index(buggy.files, tell_nobody),
        buggy=buggy,
        fixed=None,
        runner=ScriptRunner(ProjectRunner(toy.sandbox), environment),
        model=Scripted({}),
        options=BugOptions(),
        tell=tell_nobody,
        stop=Stop(),
    )


def with_fixed(case: Case) -> Case:
    return replace(case, fixed=replace(case.buggy, identity="fixed"))


def with_symptom(case: Case, symptom: dict[str, Any]) -> Case:
    return replace(case, symptom=Symptom.model_validate(symptom))


def ran(outcome: RunOutcome, seed: int = 0, number: float | None = None) -> SeedRun:
    """A run that ended without an exception."""
    return SeedRun(
        seed,
        RunObservation(Ending.OK, ended="returned", number=number),
        outcome,
        "It ran.",
    )


def crashed(
    outcome: RunOutcome = RunOutcome.SYMPTOM,
    message: str = "division by zero",
    frame: Frame = FRAME,
    *,
    deliberate: bool = False,
    outside: bool = False,
    missing: str = "",
) -> SeedRun:
    classes = ("ZeroDivisionError", "ArithmeticError")
    seen = RunObservation(
        Ending.OK,
        ended="raised",
        classes=classes,
        message=message,
        frames=(frame,),
        missing=missing,
    )
    return SeedRun(0, seen, outcome, f"ZeroDivisionError: {message}", deliberate, outside)


def shows_in(shown: int, of: int) -> list[SeedRun]:
    outcomes = [RunOutcome.SYMPTOM] * shown + [RunOutcome.NOTHING] * (of - shown)
    return [ran(outcome, seed) for seed, outcome in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("shown", "of", "is_shown"),
    [
        (1, 1, True),
        (1, 2, False),
        (2, 2, True),
        (1, 3, False),
        (2, 3, True),
        (2, 4, False),
        (3, 4, True),
    ],
)
def test_a_silent_bug_shows_with_most_of_the_seeds(
    case: Case, shown: int, of: int, is_shown: bool
) -> None:
    objection = not_shown(with_symptom(case, silent("not-finite")), shows_in(shown, of))
    assert (objection is None) == is_shown
    if objection is not None:
        assert objection.where == Stage.EXECUTION
        assert f"showed with {shown} of {of} seeds" in str(objection)


@pytest.mark.parametrize(("shown", "is_shown"), [(0, False), (1, True), (4, True)])
def test_an_exception_need_come_once(case: Case, shown: int, is_shown: bool) -> None:
    objection = not_shown(case, shows_in(shown, 4))
    assert (objection is None) == is_shown
    if objection is not None:
        assert str(objection).startswith("No failure. It ran.")
        assert "seeds" not in str(objection), "nothing showed, so no share is given"


def test_what_was_not_run_shows_nothing(case: Case) -> None:
    assert "It was not run." in str(not_shown(case, []))
    assert "It was not run." in str(not_shown(with_symptom(case, silent("not-finite")), []))


@pytest.mark.parametrize(
    ("numbers", "wanted", "is_shown"),
    [
        ((105.0, 105.0), 100.0, True),
        ((105.1, 105.1), 100.0, False),
        ((95.0, 95.0), 100.0, True),
        ((94.9, 94.9), 100.0, False),
        ((100.0, 108.0), 100.0, True),
        ((100.0, 112.0), 100.0, False),
        ((-105.0, -105.0), -100.0, True),
        ((-106.0, -106.0), -100.0, False),
        ((0.0, 0.0), 0.0, True),
        ((0.1, 0.0), 0.0, False),
    ],
)
def test_a_reported_number_is_met_by_the_mean_within_five_per_cent(
    case: Case, numbers: Sequence[float], wanted: float, is_shown: bool
) -> None:
    runs = [ran(RunOutcome.SYMPTOM, seed, number) for seed, number in enumerate(numbers)]
    objection = not_shown(with_symptom(case, silent("near", wanted)), runs)
    assert (objection is None) == is_shown
    if objection is not None:
        assert f"reported was {wanted:g}" in str(objection)


def test_a_number_need_be_near_with_one_seed_and_in_the_mean(case: Case) -> None:
    near = with_symptom(case, silent("near", 100.0))
    one = [
        ran(RunOutcome.SYMPTOM, 0, 100.0),
        ran(RunOutcome.NOTHING, 1, 94.0),
        ran(RunOutcome.NOTHING, 2, 106.0),
    ]
    assert not_shown(near, one) is None
    assert not_shown(near, one[1:]) is not None, "no seed is near"
    assert "no number" in str(not_shown(near, [ran(RunOutcome.SYMPTOM)]))
    above = with_symptom(case, silent("above", 1.0))
    assert not_shown(above, [ran(RunOutcome.SYMPTOM, 0, 900.0)]) is None, (
        "the mean is a rule of `near` alone"
    )


def test_only_runs_on_the_fixed_revision_confirm() -> None:
    buggy = [crashed()]
    objection = not_confirmed(buggy, [])
    assert objection is not None, "not run is not confirmed"
    assert (objection.where, str(objection)) == (
        Stage.FIXED,
        "It was not run on the fixed revision.",
    )
    assert not_confirmed(buggy, [ran(RunOutcome.NOTHING)]) is None
    passed = ran(RunOutcome.NOTHING)
    assert not_confirmed(buggy, [passed, passed]) is None
    assert not_confirmed(buggy, [passed, crashed()]) is not None, "every seed must pass"


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        (crashed(), "The same is seen on the fixed revision"),
        (crashed(message="modulo by zero"), "but with another failure or elsewhere"),
        (
            crashed(frame=replace(FRAME, function="update")),
            "but with another failure or elsewhere",
        ),
        (
            crashed(RunOutcome.PROJECT, "modulo by zero"),
            "does not run through (another failure of the project)",
        ),
        (
            crashed(RunOutcome.SCRIPT, "modulo by zero"),
            "does not run through (the script's own mistake)",
        ),
        (ran(RunOutcome.NO_RUN), "does not run through (could not run)"),
        (ran(RunOutcome.ENVIRONMENT), "does not run through (the environment)"),
    ],
)
def test_why_the_fixed_revision_does_not_confirm(fixed: SeedRun, words: str) -> None:
    assert words in str(not_confirmed([crashed()], [fixed]))


def test_the_same_failure_is_one_that_showed() -> None:
    assert same_failure([crashed()], crashed())
    assert same_failure([ran(RunOutcome.SYMPTOM)], ran(RunOutcome.SYMPTOM))
    assert not same_failure([ran(RunOutcome.SYMPTOM)], ran(RunOutcome.NOTHING))
    assert not same_failure([crashed(message="modulo by zero")], crashed())
    assert not same_failure([crashed(RunOutcome.PROJECT)], crashed()), (
        "what did not show is not compared with"
    )
    assert same_failure([ran(RunOutcome.NOTHING), crashed()], crashed())


def attempt(*runs: SeedRun, script: str = SCRIPT, **more: Any) -> Attempt:
    return Attempt(0, 0, script, runs=runs, **more)


def test_without_a_fixed_revision_the_very_report_must_be_seen(case: Case) -> None:
    assert verdict_on(case, attempt(crashed())) == (
        Verdict.REPRODUCED,
        "the symptom shows with 1 of 1 seeds, in project code",
    )


def test_a_fixed_revision_confirms_what_alone_would_be_doubted(case: Case) -> None:
    wrong = with_symptom(case, silent("not-finite"))
    shown = attempt(ran(RunOutcome.SYMPTOM), ran(RunOutcome.NOTHING))
    verdict, reason = verdict_on(wrong, shown)
    assert verdict is Verdict.SHOWN
    assert reason.endswith(": --fixed decides")
    verdict, reason = verdict_on(with_fixed(wrong), shown)
    assert verdict is Verdict.REPRODUCED
    assert reason == "the symptom shows with 1 of 2 seeds, and with none on the fixed revision"


def test_controls_that_do_not_tell_leave_it_unconfirmed(case: Case) -> None:
    decided = attempt(crashed(), controls=Controls(("re-laid buggy shows",)))
    assert verdict_on(with_fixed(case), decided)[0] is Verdict.REPRODUCED
    undecided = replace(decided, controls=Controls((), "its calls cannot be compared"))
    verdict, reason = verdict_on(with_fixed(case), undecided)
    assert verdict is Verdict.SHOWN
    assert "its calls cannot be compared" in reason
    assert verdict_on(case, undecided)[0] is Verdict.SHOWN


def test_another_exception_needs_the_fixed_revision(case: Case) -> None:
    learned = attempt(crashed(), learned=case.symptom)
    guessed = with_symptom(case, silent("not-finite"))
    assert verdict_on(with_fixed(guessed), learned)[1].endswith("expected was another symptom")
    assert verdict_on(guessed, learned)[0] is Verdict.SHOWN


UNSPOKEN = Frame("project", "acme/optim.py", 3, "step", "Schedule.step")


@pytest.mark.parametrize(
    ("runs", "doubt"),
    [
        (
            (crashed(outside=True), crashed(outside=True)),
            "raised by a library that the script called",
        ),
        ((crashed(outside=True), crashed()), ""),
        (
            (crashed(deliberate=True), crashed(deliberate=True)),
            "it is raised on purpose",
        ),
        ((crashed(deliberate=True), crashed()), ""),
        ((crashed(frame=UNSPOKEN),), "in code that the report does not speak of"),
        ((crashed(frame=UNSPOKEN), crashed()), ""),
        # A run that does not show it says nothing about what was shown.
        (
            (crashed(deliberate=True), ran(RunOutcome.NOTHING)),
            "it is raised on purpose",
        ),
    ],
)
def test_one_run_that_is_beyond_doubt_suffices(
    case: Case, runs: tuple[SeedRun, ...], doubt: str
) -> None:
    verdict, reason = verdict_on(case, attempt(*runs))
    assert verdict is (Verdict.SHOWN if doubt else Verdict.REPRODUCED), reason
    assert doubt in reason


def test_an_exception_that_the_report_does_not_spell_is_only_shown(case: Case) -> None:
    vague = replace(case, raw="Meter.mean fails at once\n")
    verdict, reason = verdict_on(vague, attempt(crashed()))
    assert verdict is Verdict.SHOWN
    assert "the report does not say this exception" in reason


@pytest.mark.parametrize(
    "word",
    "init forward call module error the and for with src lib meter".split(),  # noqa: SIM905
)
def test_a_word_that_every_report_shares_names_no_code(case: Case, word: str) -> None:
    """It is in the report, and is the name of the function or of its file."""
    said = replace(case, raw=f"It fails in {word}()\n\nZeroDivisionError: division by zero\n")
    for frame in (
        Frame("project", "acme/xyz.py", 33, word, word),
        Frame("project", f"acme/{word}.py", 33, "xyz", "xyz"),
    ):
        verdict, reason = verdict_on(said, attempt(crashed(frame=frame)))
        is_shared = word != "meter"
        assert verdict is (Verdict.SHOWN if is_shared else Verdict.REPRODUCED), reason
        assert ("does not speak of" in reason) is is_shared


@pytest.mark.parametrize(
    ("word", "is_shared"), [("Loss", True), ("step", True), ("ADAM", True), ("of", False)]
)
def test_a_word_has_three_letters_or_more(case: Case, word: str, is_shared: bool) -> None:
    said = replace(case, raw=f"The {word} fails: ZeroDivisionError: division by zero\n")
    frame = Frame("project", "acme/xyz.py", 33, f"x_{word}", f"x_{word}")
    verdict, _ = verdict_on(said, attempt(crashed(frame=frame)))
    assert verdict is (Verdict.REPRODUCED if is_shared else Verdict.SHOWN)


REFUSAL = "division by zero: the window must be larger"


@pytest.mark.parametrize(
    ("script", "message", "named"),
    [
        ("Meter(7).mean()\n", REFUSAL, ""),
        ("Meter(8).mean()\n", REFUSAL, "8"),
        ("Meter(8).mean()\n", "division by zero", ""),
        ("Meter(-7).mean()\n", REFUSAL, ""),
        ("Meter(0)\nMeter(1)\nMeter(2).mean()\n", REFUSAL, ""),
        ("Meter(3).mean()\n", REFUSAL, "3"),
        ("Meter(True).mean()\n", REFUSAL, ""),
        ("Meter(0.5, 8).mean()\nMeter(8)\n", REFUSAL, "8, 0.5"),
    ],
)
def test_values_of_its_own_choice_may_force_a_refusal(
    case: Case, script: str, message: str, named: str
) -> None:
    found = attempt(crashed(message=message), script=f"from acme import Meter\n{script}")
    verdict, reason = verdict_on(case, found)
    assert verdict is (Verdict.SHOWN if named else Verdict.REPRODUCED), reason
    assert f"the report does not give {named}: --fixed" in reason or not named


def test_one_message_that_is_not_about_the_input_is_enough(case: Case) -> None:
    runs = (crashed(message=REFUSAL), crashed())
    assert verdict_on(case, attempt(*runs, script="Meter(8).mean()\n"))[0] is Verdict.REPRODUCED


def test_a_step_that_the_report_names_must_not_be_left_out(case: Case) -> None:
    named = replace(case, raw=RAW.replace("call mean()", "call update() and then mean()"))
    verdict, reason = verdict_on(named, attempt(crashed()))
    assert verdict is Verdict.SHOWN
    assert "without a step that the report names (update)" in reason
    whole = SCRIPT.replace("Meter(7).mean()", "meter = Meter(7)\nmeter.update(7)\nmeter.mean()")
    assert verdict_on(named, attempt(crashed(), script=whole))[0] is Verdict.REPRODUCED
    foreign = replace(case, raw=RAW.replace("call mean()", "call flush() and then mean()"))
    assert verdict_on(foreign, attempt(crashed()))[0] is Verdict.REPRODUCED, "no method of Meter"


def stopped(stage: Stage, words: str, *runs: SeedRun, **more: Any) -> Attempt:
    return attempt(*runs, stage=stage, objections=(Problem(stage, words),), **more)


def test_the_verdict_on_all_attempts(case: Case) -> None:
    shows = attempt(crashed())
    silent_run = stopped(Stage.EXECUTION, "No failure.", ran(RunOutcome.NOTHING))
    broken = stopped(Stage.EXECUTION, "Its own mistake.", crashed(RunOutcome.SCRIPT))
    assert verdict_of(case, [broken, shows])[0] is Verdict.REPRODUCED
    assert verdict_of(case, [silent_run])[0] is Verdict.NOT_REPRODUCED
    assert "1 of 2 scripts ran the project" in verdict_of(case, [broken, silent_run])[1]
    verdict, reason = verdict_of(case, [broken])
    assert verdict is Verdict.INCONCLUSIVE
    assert reason == (
        "none of 1 scripts ran as it should: the script's own mistake (1), the last: Its own "
        "mistake"
    )
    assert verdict_of(case, []) == (
        Verdict.INCONCLUSIVE,
        "there was no context to write a script from",
    )


def test_a_script_that_was_not_run_proves_nothing(case: Case) -> None:
    unrun = replace(case, options=BugOptions(parts=BugAblations.without("execution")))
    assert verdict_of(unrun, [attempt()])[0] is Verdict.INCONCLUSIVE
    assert "execution is switched off" in verdict_of(unrun, [attempt()])[1]


def test_what_the_fixed_revision_shows_too_is_not_the_bug(case: Case) -> None:
    both = stopped(Stage.FIXED, "The same.", crashed(), fixed_runs=(crashed(),))
    other = stopped(
        Stage.FIXED,
        "Another.",
        crashed(),
        fixed_runs=(crashed(message="modulo by zero"),),
    )
    some = stopped(Stage.FIXED, "One.", crashed(), fixed_runs=(ran(RunOutcome.NOTHING), crashed()))
    verdict, reason = verdict_of(with_fixed(case), [other, both])
    assert verdict is Verdict.NOT_REPRODUCED
    assert "(1 scripts)" in reason
    assert verdict_of(with_fixed(case), [some])[0] is Verdict.NOT_REPRODUCED
    verdict, reason = verdict_of(with_fixed(case), [both, other][1:])
    assert verdict is Verdict.INCONCLUSIVE
    assert "nothing confirms it: Another" in reason


def test_a_script_that_makes_what_it_shows_is_inconclusive(case: Case) -> None:
    made = stopped(Stage.CONTROL, "This is shown by the script itself.", crashed())
    verdict, reason = verdict_of(case, [made])
    assert verdict is Verdict.INCONCLUSIVE
    assert "not by the project alone: This is shown by the script itself" in reason
    quiet = stopped(Stage.EXECUTION, "No failure.", ran(RunOutcome.NOTHING))
    assert verdict_of(case, [made, quiet])[0] is Verdict.NOT_REPRODUCED


def test_what_the_model_finds_follows_scripts_that_ran(case: Case) -> None:
    quiet = stopped(
        Stage.EXECUTION,
        "No failure.",
        ran(RunOutcome.NOTHING),
        not_here="window is checked",
    )
    assert verdict_of(case, [quiet])[1].endswith("this bug is not here: window is checked")
    unrun = stopped(Stage.PARSE, "No Python.", not_here="window is checked")
    assert verdict_of(case, [unrun])[0] is Verdict.INCONCLUSIVE, "an opinion alone decides nothing"


def test_the_obstacle_is_what_stopped_most(case: Case) -> None:
    parse = stopped(Stage.PARSE, "No Python.")
    static = stopped(Stage.STATIC, "No such name.")
    last = stopped(Stage.STATIC, "Neither this one.")
    reason = verdict_of(case, [static, parse, last, parse, static])[1]
    assert (
        reason == "none of 5 scripts ran as it should: static analysis (3), the last: No such name"
    )


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (
            RunOutcome.ENVIRONMENT,
            "the module yaml is not installed; --requirement pyyaml installs it",
        ),
        (RunOutcome.SCRIPT, "none of 1 scripts ran as it should"),
    ],
)
def test_a_missing_module_is_named_with_its_option(
    case: Case, outcome: RunOutcome, words: str
) -> None:
    lacking = stopped(Stage.EXECUTION, "Not installed.", crashed(outcome, missing="yaml"))
    assert verdict_of(case, [lacking])[1].startswith(words)


def test_a_message_that_says_something_else_is_only_shown(case: Case) -> None:
    other = replace(crashed(), otherwise=True)
    verdict, reason = verdict_on(case, attempt(other))
    assert verdict is Verdict.SHOWN
    assert "its message says something else" in reason
    assert verdict_on(case, attempt(other, crashed()))[0] is Verdict.REPRODUCED
    assert verdict_on(with_fixed(case), attempt(other))[0] is Verdict.REPRODUCED


def test_what_the_model_claims_is_only_shown(case: Case) -> None:
    claimed = attempt(crashed(), learned=case.symptom, claimed=True)
    for one, confirmed in ((case, False), (with_fixed(case), True)):
        verdict, reason = verdict_on(one, claimed)
        assert verdict is Verdict.SHOWN
        assert "with another message than reported" in reason
        assert ("none on the fixed revision" in reason) is confirmed


PLACED = """Meter crashes

I make a Meter with window 7 and call mean() at once:
  File "/home/me/acme/losses.py", line {line}, in {function}
    {text}
{last}
"""
MEAN = "return sum(self.values) / len(self.values)"
DIVIDES = "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("line", "function", "text", "last", "is_elsewhere"),
    [
        (33, "mean", MEAN, DIVIDES, False),
        (7, "mean", MEAN, DIVIDES, False),
        (30, "update", "self.values = [*self.values, value][-self.window :]", DIVIDES, True),
        # Neither is in this revision: code that was rewritten since says nothing of this one.
        (30, "update", "self.values = rewritten", DIVIDES, False),
        (30, "gone", MEAN, DIVIDES, False),
        # A traceback of another exception.
        (30, "update", "self.values = [*self.values, value][-self.window :]", "KeyError: 1", False),
    ],
)
def test_the_place_of_the_reported_traceback_must_be_passed(
    case: Case, line: int, function: str, text: str, last: str, is_elsewhere: bool
) -> None:
    raw = PLACED.format(line=line, function=function, text=text, last=last)
    said = replace(case, raw=f"{raw}\n{DIVIDES}\n")
    verdict, reason = verdict_on(said, attempt(crashed()))
    assert verdict is (Verdict.SHOWN if is_elsewhere else Verdict.REPRODUCED), reason
    assert ("not at acme/losses.py in update" in reason) is is_elsewhere
    through = crashed(frame=replace(FRAME, function=function))
    assert verdict_on(said, attempt(crashed(), through))[0] is Verdict.REPRODUCED, "one suffices"


def test_what_this_machine_cannot_decide_is_not_called_absent(case: Case) -> None:
    quiet = stopped(Stage.EXECUTION, "No failure.", ran(RunOutcome.NOTHING))
    beyond = replace(quiet, beyond="what must be seen needs cuda")
    assert verdict_of(case, [beyond, quiet]) == (
        Verdict.UNDECIDABLE,
        "what must be seen needs cuda",
    )
    assert verdict_of(case, [beyond, attempt(crashed())])[0] is Verdict.REPRODUCED
    assert Verdict.UNDECIDABLE.exit_code == 3
    both = stopped(Stage.FIXED, "The same.", crashed(), fixed_runs=(crashed(),))
    assert verdict_of(with_fixed(case), [both, beyond])[0] is Verdict.NOT_REPRODUCED


def called(line: int, run: SeedRun) -> SeedRun:
    """The run, called from a line of the script."""
    frames = (Frame("script", "script.py", line, "<module>", "<module>"), *run.observation.frames)
    return replace(run, observation=replace(run.observation, frames=frames))


@pytest.mark.parametrize(
    ("now", "is_incomplete"),
    [
        (called(3, crashed(RunOutcome.PROJECT, "modulo by zero")), True),
        (called(3, crashed(RunOutcome.SYMPTOM, "modulo by zero")), True),
        # Another call, the script's own mistake, what is not installed, and no script at all.
        (called(4, crashed(RunOutcome.PROJECT, "modulo by zero")), False),
        (called(3, crashed(RunOutcome.SCRIPT, "modulo by zero")), False),
        (called(3, crashed(RunOutcome.ENVIRONMENT, "modulo by zero")), False),
        (crashed(RunOutcome.PROJECT, "modulo by zero"), False),
        (ran(RunOutcome.NO_RUN), False),
    ],
)
def test_a_fix_that_leaves_another_failure_is_not_complete(
    case: Case, now: SeedRun, is_incomplete: bool
) -> None:
    one = stopped(
        Stage.FIXED, "Another.", called(3, crashed()), fixed_runs=(ran(RunOutcome.NOTHING), now)
    )
    verdict, reason = verdict_of(with_fixed(case), [one])
    assert verdict is (Verdict.INCOMPLETE if is_incomplete else Verdict.INCONCLUSIVE)
    assert ("the same call (line 3 of the script) now raises" in reason) is is_incomplete
    assert raises_now(replace(one, runs=(ran(RunOutcome.NOTHING),))) == "", "nothing was shown"
