"""The end of a run: what was shown is written, bisected, traced to its cause and put into its folder."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reenact.bug.cause.beyond_showing import suspected_cause
from reenact.bug.cause.patch import proposed
from reenact.bug.declared import metadata
from reenact.bug.generate import Case
from reenact.bug.own_files import NAMES, refuse_foreign, write_list
from reenact.bug.project_files import identity, project_files
from reenact.bug.ready import Preparation
from reenact.bug.repro.as_test import test_name
from reenact.bug.repro.bisect import bisected
from reenact.bug.repro.facts import facts_from
from reenact.bug.repro.hand_over import REQUIREMENTS, handed_over
from reenact.bug.repro.judged import Judgement, judged
from reenact.bug.repro.requirements import requirements_proven
from reenact.bug.reproduction import Reproduction, Verdict
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.bug.services import BugServices
from reenact.errors import InputError
from reenact.intake.report import RawReport
from reenact.intake.repository import Checkout
from reenact.journal import Kind, OpenRun
from reenact.types import Progress

PATCH = "proposed.patch"
MOST_WORDS = 8000
"""Characters of the report's own words that a result keeps."""


def revision_of(checkout: Checkout) -> Revision:
    files = project_files(checkout.folder)
    return Revision(
        identity(checkout, files),
        files,
        checkout.day,
        metadata(checkout.folder),
    )


def not_importable(
    raw: RawReport,
    checkout: Checkout,
    fixed: Checkout | None,
    services: BugServices,
    run: OpenRun,
    why: str,
    runner: ScriptRunner,
    out: Path | None,
) -> Reproduction:
    """The result where the project cannot be imported here: no model was asked anything."""
    found = Reproduction(
        title=raw.title,
        source=raw.source,
        words=raw.text()[:MOST_WORDS],
        repository=checkout.source,
        commit=checkout.commit,
        fixed=fixed.commit if fixed is not None else "",
        verdict=Verdict.UNDECIDABLE,
        reason=why[:600],
        symptom=None,
        report=None,
        attempts=(),
        contexts=(),
        packages=runner.environment.packages,
        notes=tuple(note for note in (raw.cut, *runner.environment.notes) if note),
        **run.paid,
    )
    found = _put(found, {}, services, out, run)
    found = replace(found, reused=run.reused, waited_s=sum(runner.waited), seconds=run.worked_s)
    run.note("result", found)
    run.finish(
        {"verdict": found.verdict.value, "reason": found.reason[:500]}, found.verdict.exit_code
    )
    return found


def written(
    found: Reproduction,
    case: Case,
    services: BugServices,
    out: Path | None,
    run: OpenRun,
    preparation: Preparation,
) -> Reproduction:
    """With the files of the result, proven and written where they are asked for."""
    found, files = handed_over(found, case, run)
    pair = None
    if case.options.bisect and found.repro:
        found, pair = _bisected(found, case, services, run, preparation)
    if case.options.cause:
        found = replace(found, cause=suspected_cause(found, case, pair, run))
    if case.options.patch:
        found = replace(found, patch=proposed(found, case, run))
        if found.patch is not None and found.patch.diff:
            files[PATCH] = found.patch.diff
    if case.options.prove_requirements and REQUIREMENTS in files:
        services.tell(Progress("bug", note="install requirements.txt in a fresh environment"))
        note = requirements_proven(found, files[REQUIREMENTS], case, services.environments)
        found = replace(found, notes=(*found.notes, note))
    return _put(found, files, services, out, run)


def _put(
    found: Reproduction,
    files: dict[str, str],
    services: BugServices,
    out: Path | None,
    run: OpenRun,
) -> Reproduction:
    """With its files in the folder that was asked for."""
    if out is None:
        return found
    found = replace(
        found,
        folder=out,
        written=(*files, "REPORT.md") if services.report else tuple(files),
    )
    if services.report is not None:
        files["REPORT.md"] = services.report(found)
    contents = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    # Again: a file of the user's may have come meanwhile.
    refuse_foreign(out, (*NAMES, test_name(found.source)))
    write_list(out, contents)
    run.edit("files", out, contents)
    return found


def ends_of(commits: str) -> tuple[str, str]:
    """The good and the bad commit of GOOD..BAD."""
    good, dots, bad = commits.partition("..")
    if not (good and dots and bad):
        why = f"The commits to search are named as GOOD..BAD. Received: bisect={commits!r}."
        raise InputError(why)
    return good, bad


def _bisected(
    found: Reproduction,
    case: Case,
    services: BugServices,
    run: OpenRun,
    preparation: Preparation,
) -> tuple[Reproduction, tuple[Revision, Revision] | None]:
    """With the commit that brought the bug, by the proven script; and that revision with the one
    before it.
    """
    history = services.history
    good, bad = ends_of(case.options.bisect)
    if history is None:
        raise InputError("A bisection needs the history of the repository, and none was given.")
    facts = facts_from(found.facts)

    def at(commit: str) -> Revision:
        revision = revision_of(history.checkout(commit))
        with suppress(InputError):
            # One that cannot be built is one that cannot be judged.
            revision = preparation.as_built(revision, case.runner.environment)
        return revision

    def judge(commit: str) -> Judgement:
        case.say(f"bisect: look at {commit[:12]}")
        revision = at(commit)
        given: dict[str, object] = {"repro": found.repro, "facts": found.facts, "at": commit}
        code = run.step(
            f"bisect-{commit[:12]}",
            lambda: int(judged(found.repro, facts, revision, case.runner).judgement),
            kind=Kind.BOX,
            inputs=given,
        )
        return Judgement(code)

    commits = history.between(good, bad)
    result = bisected(good, commits, judge)
    looked = f"{len(result.judgements)} commits were looked at"
    if result.found:
        named = f"{result.found[:12]} ({history.subject(result.found)[:100]})"
        before = (good, *commits)[commits.index(result.found)]
        pair = (at(result.found), at(before))
        return replace(found, brought_by=f"The bug came with {named}; {looked}."), pair
    why = result.why
    if result.suspects:
        names = ", ".join(one[:12] for one in result.suspects[:8])
        why = f"it came with one of {names}: on the others of them the script cannot be run"
    said = f"Which commit brought the bug was not found: {why}; {looked}."
    return replace(found, brought_by=said), None
