"""What runs prove: whether the symptom shows, whether that is the bug, and the verdict on all
attempts.
"""

import ast
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from statistics import fmean

from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.crash import ReportedCrash
from reenact.bug.declared import distribution
from reenact.bug.generate import Case
from reenact.bug.reproduction import Attempt, Stage, Verdict
from reenact.bug.symptom import Symptom
from reenact.claims.check import Relation
from reenact.claims.inside.relations import FIVE_PERCENT
from reenact.codegen.project import Problem

COMMON = frozenset(
    {
        "init",
        "forward",
        "call",
        "module",
        "error",
        "the",
        "and",
        "for",
        "with",
        "src",
        "lib",
    }
)
"""Words that many functions and every report share."""
_ABOUT_INPUT = re.compile(
    r"(?i)out of (?:range|bounds)|beyond|(?:must|should|can ?not|has to|have to) "
    r"(?:be|have|match)|expected"
    r"|invalid|unsupported|not supported|at (?:least|most)|too "
    r"(?:large|small|long|short|many|few)|exceed"
    r"|mismatch|not match"
)
"""Words of messages that refuse what was handed in."""


RAISED = (RunOutcome.SYMPTOM, RunOutcome.PROJECT)
"""Outcomes of a run in which the project failed."""


def not_shown(case: Case, runs: Sequence[SeedRun]) -> Problem | None:
    """Why these runs do not show the symptom of a case; none when they do."""
    return lacks(case.symptom, runs)


def lacks(symptom: Symptom, runs: Sequence[SeedRun]) -> Problem | None:
    """Why these runs do not show a symptom; none when they do."""
    shown = [run for run in runs if run.shows]
    check = symptom.closing
    near = check is not None and check.relation is Relation.NEAR
    if len(shown) >= (len(runs) // 2 + 1 if check is not None and not near else 1):
        # The rule of five per cent: the mean over all seeds must come near the reported number.
        numbers = [run.observation.number for run in runs if run.observation.number is not None]
        wanted = (check.number if check is not None else None) or 0.0
        if not near or (numbers and abs(fmean(numbers) - wanted) <= FIVE_PERCENT * abs(wanted)):
            return None
        mean = f"{fmean(numbers):.4g}" if numbers else "no number"
        return Problem(
            Stage.EXECUTION,
            f"The mean over the seeds is {mean}; reported was {wanted:g}.",
        )
    worst = next(
        (run for run in runs if not run.shows),
        None,
    )
    what = "It was not run."
    if worst is not None:
        what = f"{worst.outcome.value}. {worst.sentence}"
    share = ""
    if shown:
        share = f" The symptom showed with {len(shown)} of {len(runs)} seeds."
    return Problem(
        Stage.EXECUTION,
        f"{what[:1].upper()}{what[1:]}{share}",
    )


def not_confirmed(
    buggy: Sequence[SeedRun],
    runs: Sequence[SeedRun],
) -> Problem | None:
    """Why the runs on the fixed revision do not confirm the bug; none when all of them pass."""
    failed = next(
        (run for run in runs if run.outcome is not RunOutcome.NOTHING),
        None,
    )
    if failed is None:
        return None if runs else Problem(Stage.FIXED, "It was not run on the fixed revision.")
    if same_failure(buggy, failed):
        sentence = "The same is seen on the fixed revision, so it is not the bug"
    elif failed.shows:
        sentence = "On the fixed revision it fails too, but with another failure or elsewhere"
    else:
        sentence = f"On the fixed revision it does not run through ({failed.outcome.value})"
    return Problem(
        Stage.FIXED,
        f"{sentence}: {failed.sentence}",
    )


def same_failure(buggy: Sequence[SeedRun], other: SeedRun) -> bool:
    """Whether a run failed like those on the buggy revision: with what was seen there, not with
    the guess.
    """
    seen = [run.failure for run in buggy if run.shows]
    if other.failure is not None:
        return other.failure in seen
    return other.shows


def verdict_on(case: Case, attempt: Attempt) -> tuple[Verdict, str]:
    """The verdict on runs that show the symptom, and pass on the fixed revision where there is
    one.
    """
    shown = [run for run in attempt.runs if run.shows]
    seeds = f"with {len(shown)} of {len(attempt.runs)} seeds"
    count = f"the symptom shows {seeds}"
    if attempt.controls is not None and attempt.controls.doubt:
        return (
            Verdict.SHOWN,
            f"{count}, but the control runs do not tell by whom: {attempt.controls.doubt}",
        )
    if attempt.claimed:
        raised = f"{shown[0].exception} is raised {seeds}, with another message than reported"
        fixed = ", and with none on the fixed revision" if case.fixed is not None else ""
        return (
            Verdict.SHOWN,
            f"{raised}{fixed}; that it is the reported bug is what the model says",
        )
    if attempt.learned is not None and case.fixed is not None:
        raised = (
            f"{shown[0].exception} comes out of project code {seeds} and with none on the fixed "
            f"revision"
        )
        return Verdict.REPRODUCED, f"{raised}; expected was another symptom"
    if case.fixed is not None:
        return Verdict.REPRODUCED, f"{count}, and with none on the fixed revision"
    if doubt := _doubt(case, shown, attempt.script):
        return Verdict.SHOWN, f"{count}{doubt}: --fixed decides"
    return Verdict.REPRODUCED, f"{count}, in project code"


def _doubt(case: Case, shown: Sequence[SeedRun], script: str) -> str:
    """Why the symptom may not be the bug, where no fixed revision reports; empty where nothing
    says so.
    """
    if case.symptom.is_silent:
        return "; a silent bug is confirmed by a revision without it"
    if not case.symptom.grounded(case.raw):
        return "; the report does not say this exception and message"
    if all(run.otherwise for run in shown):
        return ", where the report says, but its message says something else"
    if elsewhere := _elsewhere(case, shown):
        return f", but not at {elsewhere}, where the report's own traceback ends"
    if all(run.outside for run in shown):
        return ", but raised by a library that the script called"
    frames = (one for run in shown for one in run.observation.project_frames)
    passed = " ".join(f"{one.qualified} {PurePosixPath(one.file).stem}" for one in frames)
    if not _words(case.raw) & _words(passed):
        return ", but in code that the report does not speak of"
    if all(run.deliberate for run in shown):
        return "; it is raised on purpose, which may be right"
    if forced := _forced(shown, script, case.raw):
        return f"; the message is about what was handed in, and the report does not give {forced}"
    steps = _left_out(case, shown, script)
    return f", but without a step that the report names ({steps})" if steps else ""


def _elsewhere(case: Case, shown: Sequence[SeedRun]) -> str:
    """The function in which the report's traceback of this exception ends, where it is in this
    project and none of these runs goes through it; empty otherwise.
    """
    reported = case.symptom.raised
    crashes = [one for one in case.crashes if reported and one.exception == reported.name]
    places = {(one.file.as_posix(), one.function) for one in crashes if _is_there(case, one)}
    frames = (one for run in shown for one in run.observation.project_frames)
    if not places or places & {(one.file, one.function) for one in frames}:
        return ""
    file, function = min(places)
    return f"{file} in {function}"


def _is_there(case: Case, crash: ReportedCrash) -> bool:
    """Whether the function of a reported crash is in this revision, with its line where it shows
    one: code that was rewritten since raises elsewhere.
    """
    text = case.buggy.files.texts.get(crash.file, "")
    lines = {" ".join(line.split()) for line in text.splitlines()}
    defined = re.search(rf"\bdef {re.escape(crash.function)}\b", text) is not None
    return defined and (not crash.text or crash.text in lines)


def _left_out(case: Case, shown: Sequence[SeedRun], script: str) -> str:
    """Methods that the report calls on the class that failed and the script does not: a missing
    step may explain the failure.
    """
    frames = shown[0].observation.project_frames
    owners = {frame.qualified.split(".")[-2] for frame in frames if "." in frame.qualified}
    files = {PurePosixPath(frame.file) for frame in frames} & case.buggy.files.texts.keys()
    classes = (node for file in files for node in case.buggy.files.nodes(file))
    bodies = [
        node.body for node in classes if isinstance(node, ast.ClassDef) and node.name in owners
    ]
    methods = {one.name for body in bodies for one in body if isinstance(one, ast.FunctionDef)}
    named = methods & set(re.findall(r"\b([a-z]\w*)\(", case.raw))
    calls = (one.func for one in ast.walk(ast.parse(script)) if isinstance(one, ast.Call))
    called = {one.attr for one in calls if isinstance(one, ast.Attribute)}
    return ", ".join(sorted(named - called - {frame.function for frame in frames} - COMMON))


def _forced(shown: Sequence[SeedRun], script: str, report: str) -> str:
    """Numbers of the script that the report does not give, where the message speaks of what was
    handed in: with values of its own choice a script can force most checks to fail.
    """
    if not all(_ABOUT_INPUT.search(run.observation.message) for run in shown):
        return ""
    given = {float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", report)} | {
        0.0,
        1.0,
        2.0,
    }
    constants = (
        node.value for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Constant)
    )
    numbers = (
        one for one in constants if isinstance(one, int | float) and not isinstance(one, bool)
    )
    return ", ".join(dict.fromkeys(f"{one:g}" for one in numbers if abs(float(one)) not in given))[
        :100
    ]


def _words(text: str) -> frozenset[str]:
    """Words of three letters or more, identifiers taken apart."""
    parts = re.findall(r"[A-Z][a-z]{2,}|[a-z]{3,}|[A-Z]{3,}", text)
    return frozenset(part.lower() for part in parts) - COMMON


def verdict_of(
    case: Case,
    attempts: Sequence[Attempt],
) -> tuple[Verdict, str]:
    """Reproduced or shown by the evidence; not reproduced when scripts ran the project and saw
    nothing.
    """
    showing = next((one for one in attempts if one.shows), None)
    if showing is not None and not case.options.parts.execution:
        return (
            Verdict.INCONCLUSIVE,
            "a script was written but not run: execution is switched off",
        )
    if showing is not None:
        return verdict_on(case, showing)
    exercised = [one for one in attempts if RunOutcome.NOTHING in {run.outcome for run in one.runs}]
    on_fixed = [one for one in attempts if one.stage is Stage.FIXED]
    both = [one for one in on_fixed if any(same_failure(one.runs, run) for run in one.fixed_runs)]
    if both:
        return (
            Verdict.NOT_REPRODUCED,
            f"what was shown is not what the fix changes ({len(both)} scripts)",
        )
    for one in reversed(on_fixed):
        if now := raises_now(one):
            return Verdict.INCOMPLETE, now[:600]
    if on_fixed:
        why = str(on_fixed[-1].objections[0]).rstrip(".")
        return (
            Verdict.INCONCLUSIVE,
            f"the symptom shows, but nothing confirms it: {why}"[:600],
        )
    undecidable = next((one.beyond for one in reversed(attempts) if one.beyond), "")
    if undecidable:
        return Verdict.UNDECIDABLE, undecidable[:600]
    denied = next(
        (one.not_here for one in reversed(attempts) if one.not_here),
        "",
    )
    if exercised:
        ran = f"{len(exercised)} of {len(attempts)} scripts ran the project without it"
        agreed = f", and the model finds that this bug is not here: {denied}" if denied else ""
        return Verdict.NOT_REPRODUCED, f"{ran}{agreed}"[:600]
    refused = [one for one in attempts if one.stage is Stage.CONTROL]
    if refused:
        why = str(refused[-1].objections[0]).rstrip(".")
        return (
            Verdict.INCONCLUSIVE,
            f"the symptom shows, but not by the project alone: {why}"[:600],
        )
    return Verdict.INCONCLUSIVE, _obstacle(attempts)


def raises_now(attempt: Attempt) -> str:
    """What the very call that shows the bug raises out of project code on the fixed revision;
    empty where it does not, or where the script itself is at fault there.
    """
    shown = next((run for run in attempt.runs if run.shows), None)
    failed = next((run for run in attempt.fixed_runs if run.failure is not None), None)
    if shown is None or failed is None or failed.outcome not in RAISED:
        return ""
    calls = [_called_at(run) for run in (shown, failed)]
    if calls[0] is None or calls[0] != calls[1]:
        return ""
    return f"the same call (line {calls[0]} of the script) now raises {failed.sentence}".rstrip(".")


def _called_at(run: SeedRun) -> int | None:
    """The line of the script from which a failure came; none where it came from no line of it."""
    frames = [one for one in run.observation.frames if one.whose == "script"]
    return frames[-1].line if frames else None


def _obstacle(attempts: Sequence[Attempt]) -> str:
    """Why not even one script could say anything: what stopped most of them."""
    if not attempts:
        return "there was no context to write a script from"
    stopped = [one.outcome or one.stage or "no reason" for one in attempts]
    what, count = Counter(map(str, stopped)).most_common(1)[0]
    last = next(
        one for one, why in zip(reversed(attempts), reversed(stopped), strict=True) if why == what
    )
    why = ""
    if last.objections:
        why = f", the last: {last.objections[0]}"
    missing = next(
        (run.observation.missing for run in last.runs if run.observation.missing),
        "",
    )
    if missing and last.outcome is RunOutcome.ENVIRONMENT:
        return (
            f"the module {missing} is not installed; --requirement {distribution(missing)} "
            f"installs it"
        )
    return f"none of {len(attempts)} scripts ran as it should: {what} ({count}){why}"[:600].rstrip(
        "."
    )
