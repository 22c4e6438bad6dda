"""`reenact judge repro.py`: whether the bug shows on a checkout, by what the watcher sees there.

Exit code 1: it shows; 0: it does not; 125: the script could not be run, or did not run this
checkout. `git bisect run` reads them so. The script runs in the sandbox, as it did when it was
found.
"""

import ast
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import PurePosixPath

from reenact.bug.classify import RunOutcome, SeedRun, classified
from reenact.bug.codebase import Codebase
from reenact.bug.environment import HERE, as_environment, prepare
from reenact.bug.options import BugOptions
from reenact.bug.project_files import ProjectFiles
from reenact.bug.repro.facts import ReproFacts
from reenact.bug.reproduction import CallForm, on_fixed
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.bug.validate.bindings import bindings_of, flowing_lines
from reenact.bug.validate.stages import parameters_of
from reenact.bug.verdict import lacks
from reenact.codegen.environment import Environment
from reenact.sandbox.environments.prepare import Environments


class Judgement(IntEnum):
    """What a script says of one revision: the exit codes of `reenact judge`."""

    DOES_NOT_SHOW = 0
    SHOWS = 1
    CANNOT_BE_RUN = 125


@dataclass(frozen=True, slots=True)
class JudgedRevision:
    """What a script says of one revision, and why."""

    judgement: Judgement
    reason: str
    imported: str = ""
    """Which copy of the project it ran, as a sentence."""
    run: SeedRun | None = None
    """The first run, or the first one with the bug."""

    @property
    def sentence(self) -> str:
        words = {
            Judgement.SHOWS: "The bug shows",
            Judgement.DOES_NOT_SHOW: "The bug does not show",
            Judgement.CANNOT_BE_RUN: "It cannot be judged",
        }
        ends = f" {self.imported}" if self.imported else ""
        return f"{words[self.judgement]}: {self.reason.rstrip('.')}.{ends}"


def judged(repro: str, facts: ReproFacts, at: Revision, runner: ScriptRunner) -> JudgedRevision:
    """What repro.py says of a revision, run in a sandbox."""
    script, why = script_of(repro, facts)
    if why:
        return JudgedRevision(Judgement.CANNOT_BE_RUN, why)
    script = on_fixed(script, facts.forms) if takes_forms(script, facts.forms, at) else script
    symptom = facts.symptom if facts.seen is None else facts.seen.symptom()
    seeds = facts.seeds if facts.seen is None else facts.seeds[:1]
    names = facts.modules
    observed = runner.run(script, symptom.closing, seeds, at, names=names)
    lines = flowing_lines(script, Codebase(at.files))
    crashes = () if facts.seen is None else (facts.seen.crash(),)
    runs = [
        classified(
            seed,
            seen=seen,
            symptom=symptom,
            functions=(),
            files=at.files,
            lines=lines,
            crashes=crashes,
        )
        for seed, seen in observed.items()
    ]
    return _judged(facts, runs, at)


def judge_environment(
    facts: ReproFacts, files: ProjectFiles, environments: Environments | None
) -> Environment:
    """The environment in which the script was proven where it is still there, else this
    interpreter.
    """
    built = environments.stored(facts.environment) if environments is not None else None
    options = BugOptions(environment=HERE)
    if built is None:
        return prepare(files, (), None, options, None)
    return as_environment(built, files)


def script_of(repro: str, facts: ReproFacts) -> tuple[str, str]:
    """The script that the watcher runs, or why it is not one: the assert of a silent bug is the
    watcher's to make.
    """
    if facts.seen is not None:
        try:
            ast.parse(repro)
        except SyntaxError as error:
            return "", f"repro.py is not Python: {error.msg}"
        return repro, ""
    if hashlib.sha256(repro.encode("utf-8", "replace")).hexdigest() != facts.sha256:
        return "", (
            "repro.py was changed since it was written, and repro.json says how the old one is "
            "judged; `python repro.py` runs it as it is"
        )
    return facts.script, ""


def takes_forms(script: str, forms: Sequence[CallForm], at: Revision) -> bool:
    """Whether this revision takes the keywords that a fix adds, so that its calls need them."""
    if not forms:
        return False
    bindings = bindings_of(ast.parse(script), Codebase(at.files))
    for form in forms:
        old = ast.parse(form.call.strip(), mode="eval").body
        new = ast.parse(form.fixed.strip(), mode="eval").body
        if not isinstance(old, ast.Call) or not isinstance(new, ast.Call):
            return False
        given = {one.arg for one in old.keywords}
        added = {one.arg for one in new.keywords} - given
        taken = parameters_of(old.func, bindings)
        names = set()
        if taken is not None:
            names = {one.arg for one in (*taken.args, *taken.kwonlyargs)}
        if not added <= names:
            return False
    return True


def _judged(facts: ReproFacts, runs: Sequence[SeedRun], at: Revision) -> JudgedRevision:
    shown = next((run for run in runs if run.shows), runs[0])
    imported, elsewhere = _copies(facts, runs[0], at)
    if elsewhere:
        return JudgedRevision(Judgement.CANNOT_BE_RUN, elsewhere, imported, shown)
    symptom = facts.symptom if facts.seen is None else facts.seen.symptom()
    objection = lacks(symptom, runs)
    if objection is None and _is_the_seen(facts, shown):
        return JudgedRevision(Judgement.SHOWS, shown.sentence, imported, shown)
    if all(run.outcome is RunOutcome.NOTHING for run in runs):
        return JudgedRevision(Judgement.DOES_NOT_SHOW, runs[0].sentence, imported, runs[0])
    if facts.seen is None and all(
        run.outcome in (RunOutcome.NOTHING, RunOutcome.SYMPTOM) for run in runs
    ):
        return JudgedRevision(Judgement.DOES_NOT_SHOW, str(objection), imported, runs[0])
    other = next(run for run in runs if run.outcome is not RunOutcome.NOTHING)
    why = f"another failure ({other.outcome.value}). {other.sentence}"
    return JudgedRevision(Judgement.CANNOT_BE_RUN, why, imported, other)


def _is_the_seen(facts: ReproFacts, run: SeedRun) -> bool:
    """Whether a crash came out of the same function as when it was proven, and as early."""
    failure = run.failure
    if facts.seen is None or failure is None:
        return True
    return (failure.function, failure.phase) == (facts.seen.function, facts.seen.phase)


def _copies(facts: ReproFacts, run: SeedRun, at: Revision) -> tuple[str, str]:
    """Which copy of the project was imported, and why that is not this checkout."""
    copies = run.observation.imported
    own = run.observation.project_frames
    if not copies and own:
        # The import itself failed: its frames say where it was read from.
        return f"Imported: {at.files.folder / own[0].file}.", ""
    if not copies:
        modules = ", ".join(facts.modules)
        why = f"no module of the project was imported ({modules}). {run.sentence}"
        return "", why if run.observation.ended else run.sentence
    folder = at.files.folder
    places = {name: PurePosixPath(file) for name, file in sorted(copies.items())}
    shown = ", ".join(f"{name} from {folder / place}" for name, place in places.items())
    elsewhere = [name for name, place in places.items() if place.is_absolute()]
    why = ""
    if elsewhere:
        why = f"{', '.join(elsewhere)} was not imported from {folder}"
    return f"Imported: {shown}.", why
