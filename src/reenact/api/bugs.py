"""`reproduce_bug`: a script that shows a reported bug; `judge_bug`: whether it shows on a checkout."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.api import session as call
from reenact.api.options import ASKING, RUN, ModelOptions, RunOptions
from reenact.api.session import (
    COMMAND,
    MOST_RUN_S,
    Cancel,
    File,
    Session,
    ShowProgress,
    Words,
)
from reenact.errors import require

if TYPE_CHECKING:
    from reenact.bug.repro.judged import JudgedRevision
    from reenact.bug.reproduction import Reproduction
    from reenact.intake.repository import Checkout

MOST_SCRIPT = 4 << 20
MEMORY_MIB = 4096
ENVIRONMENTS = ("auto", "here", "build")


def reproduce_bug(
    report: File,
    *,
    repo: File,
    commit: str | None = None,
    fixed: File | None = None,
    bisect: str | None = None,
    out: File = "reproduction",
    seeds: int = 5,
    contexts: int = 5,
    attempts: int = 5,
    samples: int = 1,
    run_time: float = 120.0,
    environment: str = "auto",
    requirements: Words = (),
    allow_packages: Words = (),
    allow_stubs: Words = (),
    sparse: bool = False,
    pytest: bool = False,
    prove_requirements: bool = False,
    cause: bool = True,
    patch: bool = False,
    gpu: bool = False,
    diagnose: bool = False,
    minimise: bool = True,
    without: Words = (),
    sandbox: str | None = None,
    trust_code: bool | None = None,
    max_time: float | None = None,
    model: str | None = None,
    asking: ModelOptions = ASKING,
    run: RunOptions = RUN,
    progress: ShowProgress = False,
    cancel: Cancel = None,
) -> Reproduction:
    """Write a script that shows the bug of a report, and prove it by running it over several seeds.

    The script is written by a model and runs only in the sandbox.

    Example:
        bug = reenact.reproduce_bug("report.md", repo=".", fixed="abc123", model="anthropic:NAME")
        print(bug.verdict, bug.script)

    Args:
        report: a file, "-" for standard input, or a GitHub issue (its address, or "owner/name#number").
        repo: the project: a folder, archive, git bundle or https address.
        commit: the revision with the bug; default: the newest, a folder as it is.
        fixed: a revision without the bug: the script must pass there. Also a folder, an sdist or a wheel.
        bisect: commits as "GOOD..BAD", among which the one is looked for that brought the bug.
        out: folder for repro.py, its facts and test, requirements.txt and REPORT.md.
        seeds: random seeds a script is run with.
        contexts, attempts, samples: pieces of the project that are tried, scripts for each, first scripts
            for each.
        run_time: seconds that one run of a script may take.
        environment: "auto" takes this interpreter's packages where they satisfy the project, else builds;
            "here"; "build".
        requirements: packages to install too, for example "torch==2.1".
        allow_packages: packages of the report that may be installed.
        allow_stubs: modules that may be empty where they are not installed.
        sparse: rank code by words alone, also where an embedder is installed.
        pytest: kept for older calls: a test is always written.
        prove_requirements: install requirements.txt in a fresh environment, and judge the script there.
        cause: look for the lines that are suspected, by running variants of the project.
        patch: ask the model for a patch, and keep one that script, test and the project's own tests pass.
        gpu: show scripts the GPU of this machine; the sandbox stops less then.
        diagnose: after a silent bug, read the project's training programs for faults.
        minimise: make the script as short as the symptom allows.
        without: parts of the method to leave out (ablations).
        sandbox, trust_code: tier that runs the scripts; allow one that confines nothing.
        max_time: seconds that the whole call may take.
        model: the model that writes.
        asking, run, progress, cancel: as for `reenact.diagnose`.

    Returns:
        The reproduction: verdict, the script, how often the symptom was seen, with and without the fix.
    """
    import sys

    require("models")
    from reenact.bug.options import BugAblations, BugOptions
    from reenact.bug.pipeline import reproduce
    from reenact.bug.services import BugServices
    from reenact.intake.report import read_report
    from reenact.intake.repository import open_history
    from reenact.report.render import render
    from reenact.report.views.bug import report_document

    for name, value, most in (
        ("seeds", seeds, 50),
        ("contexts", contexts, 20),
        ("attempts", attempts, 20),
    ):
        call.within(name, value, 1, most)
    call.within("samples", samples, 1, 20)
    call.within("run_time", run_time, 0, MOST_RUN_S)
    call.one_of("environment", environment, ENVIRONMENTS)
    given = {
        "sandbox": sandbox,
        "trust_code": trust_code,
        "max_time": max_time,
        "model": model,
        "asking": asking,
        "run": run,
        "progress": progress,
        "cancel": cancel,
    }
    with (
        ExitStack() as stack,
        call.open_session(given, model_for="A script is written by a model") as session,
    ):
        options = BugOptions(
            seeds=seeds,
            contexts=contexts,
            attempts=attempts,
            samples=samples,
            wall_s=run_time,
            environment=environment,
            requirements=call.words_of(requirements, "requirements"),
            pytest=pytest,
            prove_requirements=prove_requirements,
            bisect=bisect or "",
            stubs=call.words_of(allow_stubs, "allow_stubs"),
            dense=not sparse,
            cause=cause,
            patch=patch,
            gpu=gpu,
            diagnose=diagnose,
            packages=(
                *session.settings.allow_packages,
                *call.names_of(allow_packages, "allow_packages"),
            ),
            parts=BugAblations.without(*call.some_of("without", without, BugAblations.names())),
            minimise=minimise,
        )
        raw = read_report(str(report), stdin=sys.stdin.buffer)
        box = session.sandbox(gpu=gpu)
        history = None
        if bisect:
            opened = open_history(str(repo), into=session.cache / "checkouts", stop=session.stop)
            history = stack.enter_context(opened)
        services = BugServices(
            history=history,
            journal=session.journal,
            model=session.model(),
            sandbox=box,
            environments=session.environments(box),
            report=lambda found: render(report_document(found), "markdown"),
            tell=session.tell,
            stop=session.stop,
            argv=COMMAND.get(),
            fresh=run.fresh,
        )
        buggy = _checkout(repo, commit, session)
        repaired = _fixed_checkout(repo, fixed, session) if fixed else None
        return reproduce(
            raw,
            buggy,
            services,
            fixed=repaired,
            options=options,
            out=Path(out),
        )


def judge_bug(
    repro: File,
    *,
    repo: File = ".",
    commit: str | None = None,
    run_time: float = 120.0,
    gpu: bool = False,
    sandbox: str | None = None,
    trust_code: bool | None = None,
    max_time: float | None = None,
    progress: ShowProgress = False,
    cancel: Cancel = None,
) -> JudgedRevision:
    """Say whether the bug that a repro.py shows is there in a checkout, by running it in the sandbox.

    Example:
        judged = reenact.judge_bug("reproduction/repro.py", repo="~/src/project")
        print(judged.judgement, judged.sentence)

    Args:
        repro: the repro.py that `reproduce_bug` wrote, with its repro.json next to it.
        repo, commit: the project: a folder, archive, git bundle or https address; the revision.
        run_time: seconds that one run of the script may take.
        gpu: show the script the GPU of this machine; the sandbox stops less then.
        sandbox, trust_code: tier that runs the script; allow one that confines nothing.
        max_time: seconds that the whole call may take.
        progress, cancel: as for `reenact.diagnose`.

    Returns:
        Whether the bug shows, why, and which copy of the project was imported.
    """
    from reenact.bug.declared import metadata
    from reenact.bug.project_files import decode, identity, project_files
    from reenact.bug.repro.facts import read_facts
    from reenact.bug.repro.judged import judge_environment, judged
    from reenact.bug.script_runner import OUTPUT_MIB, Revision, ScriptRunner
    from reenact.codegen.runner import ProjectRunner
    from reenact.files import read_bytes

    call.within("run_time", run_time, 0, MOST_RUN_S)
    given = {
        "sandbox": sandbox,
        "trust_code": trust_code,
        "max_time": max_time,
        "progress": progress,
        "cancel": cancel,
    }
    file = Path(repro)
    facts = read_facts(file)
    text = decode(read_bytes(file, MOST_SCRIPT))
    with call.open_session(given) as session:
        box = session.sandbox(gpu=gpu)
        checkout = _checkout(repo, commit, session)
        files = project_files(checkout.folder)
        at = Revision(identity(checkout, files), files, checkout.day, metadata(checkout.folder))
        environment = judge_environment(facts, files, session.environments(box))
        boxes = ProjectRunner(box, run_time, MEMORY_MIB, OUTPUT_MIB, stop=session.stop)
        return judged(text, facts, at, ScriptRunner(boxes, environment, facts.stubs))


def _fixed_checkout(repo: File, fixed: File, session: Session) -> Checkout:
    """The revision without the bug: a commit, or another folder or archive (an sdist, a wheel)."""
    path = Path(fixed)
    named = path.is_file() or (path.is_dir() and len(path.parts) > 1)
    if named or (path.is_dir() and not (Path(repo) / ".git").exists()):
        return _checkout(path, None, session)
    return _checkout(repo, str(fixed), session)


def _checkout(repo: File, commit: str | None, session: Session) -> Checkout:
    from reenact.intake.repository import open_repository

    return open_repository(
        str(repo),
        commit,
        into=session.cache / "checkouts",
        stop=session.stop,
    )
