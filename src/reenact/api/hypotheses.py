"""`test_hypothesis`: a claim about a training, tested by execution; `holds`: its check alone."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.api import session as call
from reenact.api.options import ASKING, RUN, TRAINING, ModelOptions, RunOptions, TrainingOptions
from reenact.api.session import Cancel, File, Output, ShowProgress
from reenact.errors import Inconclusive, InputError, require

if TYPE_CHECKING:
    from reenact.claims.check import Check
    from reenact.claims.verdict import ClaimVerdict
    from reenact.sandbox.box import Mount

MOST_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class PropertyCheck:
    """Whether a property holds of a program, and what its check saw."""

    holds: bool
    saw: str


def test_hypothesis(
    program: File | Sequence[str],
    *arguments: str,
    claim: str,
    edit: File,
    check: File,
    shows: str = "differs",
    tolerance: float = 1e-4,
    about: str = "training",
    expects: str = "better",
    second: File | None = None,
    effect: bool = True,
    metric: str | None = None,
    seeds: int = 10,
    folder: File | None = None,
    max_time: float | None = None,
    sandbox: str | None = None,
    model: str | None = None,
    training: TrainingOptions = TRAINING,
    asking: ModelOptions = ASKING,
    run: RunOptions = RUN,
    output: Output = None,
    progress: ShowProgress = False,
    cancel: Cancel = None,
) -> ClaimVerdict:
    """Test by execution what you believe is wrong with a training program.

    A check is a script that reaches into the program (`import reenact_reach`) and leaves `observed` and
    `reference`. It must be red on the unchanged program and green after your edit, whatever the program
    looks like otherwise; then both are trained over fresh seeds. The check and the edited program run in
    the sandbox only.

    Example:
        found = reenact.test_hypothesis(
            "train.py", claim="With equal rewards the first step has the most to come",
            edit="fix.diff", check="check.py",
        )
        found.status, found.reason, found.gates

    Args:
        program: a script, a notebook, or a list such as ["-m", "package.train"].
        arguments: what the program itself gets on its command line.
        claim: the property that should hold, in words, without naming the edit.
        edit: a unified diff of the program's own files: at most 3 files and 20 lines.
        check: the script, at most 80 lines.
        shows: what holds of `observed` while the fault is there: "differs" or "same" (as `reference`),
            "above 0.5", "below 1", "not-finite", "no-gradient", "shape 2,3", "dtype float32".
        tolerance: relative difference that is not one.
        about: what the fault spoils: "training", "evaluation", "leak" or "selection".
        expects: of the metric, before anything runs: "better", "lower but honest", "other" or "same".
        second: another fix, made by somebody who has not seen the first; the check must be green after it.
        effect: train both programs over fresh seeds.
        metric: the metric that judges; default: chosen from what is logged.
        seeds: the most fresh seeds, six to ten.
        folder: the folder that the program is started in; default: the current one.
        max_time: seconds that the whole call may take.
        sandbox: which sandbox to use; default: the best that works here.
        model: a language model that is asked for a fix of its own and, twice, for a reason to leave the
            code as it is; without it a claim is likely at best.
        training, asking, run: how programs are trained, within which limits the model is asked, how the
            run is kept.
        output: where the program's own output goes; default: nowhere.
        progress: True shows it on stderr; a function gets each `Progress`.
        cancel: a `threading.Event` that ends the call when it is set.

    Returns:
        What became of it (proven, likely, remark, refuted or not tested), with every gate.
    """
    from reenact.claims.claim import About, Claim, Expected
    from reenact.claims.edit import patch_of_diff
    from reenact.diagnosis.hypothesis import HypothesisOptions, put_to_test
    from reenact.diagnosis.llm_detector import numbered
    from reenact.diagnosis.proposals.refuters import asking as refuters
    from reenact.diagnosis.services import DiagnoseServices

    require("train")
    call.within("seeds", seeds, 6, 10)
    read = call.program_of(program, arguments, folder)
    if not claim.strip():
        raise InputError("A claim says in words what should hold. Received: claim=''.")
    hypothesis = Claim(
        says=" ".join(claim.split()),
        patch=patch_of_diff(_text(edit, "edit"), read),
        script=_text(check, "check"),
        check=_check(shows, tolerance),
        about=About(call.one_of("about", about, list(About))),
        expected=Expected(call.one_of("expects", expects, list(Expected))),
    )
    other = patch_of_diff(_text(second, "second"), read) if second is not None else None
    given = {
        "max_time": max_time,
        "sandbox": sandbox,
        "model": model,
        "training": training,
        "asking": asking,
        "run": run,
        "progress": progress,
        "cancel": cancel,
    }
    with call.open_session(given) as session:
        options = HypothesisOptions(
            effect=effect,
            seeds=seeds,
            metric=metric or "",
            python=session.settings.python,
            training_time=training.training_time,
            stand_in_data=training.stand_in_data,
        )
        services = session.services(DiagnoseServices, output=output, fresh=run.fresh, model=model)
        asked = refuters(numbered(read), services.model) if services.model is not None else None
        return put_to_test(read, hypothesis, options, services, session.sandbox, other, asked)


test_hypothesis.__test__ = False  # type: ignore[attr-defined]  # its name is not a test of pytest's


def holds(
    program: File | Sequence[str],
    script: str,
    *,
    shows: str = "differs",
    tolerance: float = 1e-4,
    folder: File | None = None,
    data: Sequence[File] = (),
) -> PropertyCheck:
    """Say whether a property holds of a program, by running its check in the sandbox with three seeds.

    This is what a test calls that `keep` wrote.

    Example:
        assert reenact.holds("train.py", CHECK, shows="differs").holds

    Args:
        program: a script, a notebook, or a list such as ["-m", "package.train"].
        script: the text of the check: it leaves `observed` and `reference`.
        shows, tolerance: what holds of these while the fault is there, as for `test_hypothesis`.
        folder: the folder that the program is started in; default: the current one.
        data: files that the program reads and a copy of its folder does not have: those outside of it,
            and those above 16 MiB. Relative names count from `folder`.

    Returns:
        `holds`, and `saw`: the values in a sentence. Raises Inconclusive where the check could not tell.
    """
    from reenact.claims.gates import SEEDS
    from reenact.claims.look import Look, Looker
    from reenact.claims.script import objections
    from reenact.program.program import read_program
    from reenact.settings import resolve

    require("train")
    check = _check(shows, tolerance)
    for wrong in objections(script, check):
        where = f" (line {wrong.line})" if wrong.line else ""
        raise InputError(f"This check cannot be used: {wrong.sentence}{where}")
    words = [str(program)] if isinstance(program, str | Path) else [str(one) for one in program]
    working = Path(folder or ".").resolve()
    settings = resolve({}).settings
    looker = Looker(
        call.sandbox_for(settings),
        # That of the test, which a box has with its packages; not that of another active environment.
        python=settings.python or sys.executable,
        mounts=tuple(_mount(working, one) for one in data),
    )
    read = read_program(words, working)
    (looks,) = looker(read, script, check, [Look("now", read, SEEDS)]).values()
    for one in looks:
        if not one.decided:
            raise Inconclusive(f"The check could not tell: {one.sentence.rstrip('.')}.")
    shown = next((one for one in looks if one.is_red), looks[0])
    return PropertyCheck(shown.is_green, shown.sentence)


def _mount(folder: Path, name: File) -> Mount:
    from reenact.sandbox.box import Mount

    path = folder / name
    if not path.exists():
        raise InputError(f"The program's data are not there. Received: data={str(name)!r}.")
    return Mount(path, str(path))


def _check(shows: str, tolerance: float) -> Check:
    from reenact.claims.check import Check, Relation
    from reenact.report.pytest_file import WORDED

    call.within("tolerance", tolerance, 0, 1)
    try:
        check = Check.read(shows, tolerance)
        known = check.relation.of_a_value and math.isfinite(check.number or 0)
        # Words behind a relation that takes a number, or none, would be left out silently.
        if known and (not check.text or check.relation in WORDED):
            return check
    except ValueError:
        pass
    names = ", ".join(one.value for one in Relation if one.of_a_value)
    raise InputError(
        f"This is not a relation of `observed`. Received: shows={shows!r}.",
        next_step=f"Use one of: {names}; above, below and near take a number.",
    )


def _text(file: File, name: str) -> str:
    from reenact.files import read_text

    try:
        return read_text(Path(file), MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The {name} cannot be read: {error}. Received: {file}") from error
