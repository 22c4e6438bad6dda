"""`reproduce_paper`, `fingerprint`, `evaluate`: what needs a model to read a paper or to judge
its code.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.api import session as call
from reenact.api.options import ASKING, RUN, ModelOptions, RunOptions
from reenact.api.session import (
    COMMAND,
    MOST_RUN_S,
    NOTICE,
    Cancel,
    File,
    ShowProgress,
    Words,
)
from reenact.errors import InputError, require

if TYPE_CHECKING:
    from reenact.paper.evaluate.evaluation import PaperEvaluation
    from reenact.paper.fingerprint.pipeline import FingerprintRun
    from reenact.paper.reproduction import Reproduction

FINGERPRINT_PARTS = ("scan", "atomicity")
"""Parts of the method of a paper that have to do with its fingerprint."""


def reproduce_paper(
    paper: File,
    *,
    task: str = "",
    method: str = "",
    metric: str = "",
    dataset: str = "",
    instruction: str = "",
    addendum: File | None = None,
    data: File | None = None,
    checkpoints: File | None = None,
    library: File | None = None,
    out: File = "reproduction",
    exemplars: int = 3,
    rounds: int = 3,
    seeds: int = 3,
    scale: float = 1.0,
    run_time: float = 3600.0,
    requirements: Words = (),
    allow_packages: Words = (),
    claims: Words = (),
    anyway: bool = False,
    repair: bool = True,
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
    """Reproduce a paper: write its code, run it, verify it, and state the gap to the paper's numbers.

    The code is written by a model and runs only in the sandbox.

    Example:
        rep = reenact.reproduce_paper("2301.00001", metric="accuracy", model="anthropic:NAME")
        print(rep.verdict, rep.gap)

    Args:
        paper: an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text.
        task, method, metric, dataset: what of the paper to reproduce, by the paper's names; default: all
            of it.
        instruction: anything else that the code must keep to.
        addendum: a file with what adds to the paper.
        data, checkpoints: your folders of data and of trained weights; the code sees them read-only.
        library: a folder of cited papers and repositories, to be used offline.
        out: folder for the project, REPORT.md and report.html.
        exemplars: cited papers that are looked into.
        rounds: revisions after verification.
        seeds: full runs, each with its own random seed.
        scale: share of the paper's training to do; declared in every table.
        run_time: CPU seconds that a full run may take; where it takes longer, less of the training is done.
        requirements: packages that the code may use.
        allow_packages: packages that may be installed where the code asks for them.
        claims: what the paper claims next to its text and tables (in its figures, say), such as "accuracy
            of METHOD on DATA > 0.97"; "@FILE" is a file with one on each line.
        anyway: write and run the code also where the paper states nothing that could be compared.
        repair: diagnose and repair the code where the gap is large.
        without: parts of the method to leave out (ablations).
        sandbox, trust_code, max_time, model, asking, run, progress, cancel: as for `reenact.reproduce_bug`.

    Returns:
        The reproduction: verdict, claims next to what was measured, criteria met, the code.
    """
    require("models")
    from reenact.intake.papers.clients import Library
    from reenact.paper.options import Goal, PaperAblations, PaperOptions
    from reenact.paper.pipeline import PaperServices, reproduce
    from reenact.report.views.paper import paper_report

    for name, value, least, most in (
        ("exemplars", exemplars, 0, 10),
        ("rounds", rounds, 0, 10),
    ):
        call.within(name, value, least, most)
    call.within("seeds", seeds, 1, 20)
    call.within("scale", scale, 1e-9, 1)
    call.within("run_time", run_time, 0, MOST_RUN_S)
    goal = Goal(
        task,
        method=method,
        metric=metric,
        dataset=dataset,
        instruction=instruction,
        addendum=call.addendum_text(addendum),
    )
    options = PaperOptions(
        goal=goal,
        data=_folder(data),
        checkpoints=_folder(checkpoints),
        exemplars=exemplars,
        rounds=rounds,
        requirements=call.words_of(requirements, "requirements"),
        seeds=seeds,
        scale=scale,
        run_wall_s=run_time,
        claims=_claims(claims),
        anyway=anyway,
        repair=repair,
        parts=PaperAblations.without(*call.some_of("without", without, PaperAblations.names())),
    )
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
    needed = "A paper is read and its code written by a model"
    with call.open_session(given, model_for=needed) as session:
        box = session.sandbox()
        cited = _folder(library)
        services = PaperServices(
            journal=session.journal,
            model=session.model(),
            sandbox=box,
            environments=session.environments(box),
            cache=session.cache,
            traces=session.traces,
            library=Library(cited) if cited is not None else None,
            clients=session.paper_clients(),
            packages=(
                *session.settings.allow_packages,
                *call.names_of(allow_packages, "allow_packages"),
            ),
            tell=session.tell,
            stop=session.stop,
            argv=COMMAND.get(),
            fresh=run.fresh,
            report=paper_report,
        )
        return reproduce(
            session.paper(str(paper), box),
            services,
            options=options,
            out=Path(out),
        )


def fingerprint(
    paper: File,
    *,
    task: str = "",
    method: str = "",
    metric: str = "",
    dataset: str = "",
    instruction: str = "",
    addendum: File | None = None,
    without: Words = (),
    sandbox: str | None = None,
    trust_code: bool | None = None,
    max_time: float | None = None,
    model: str | None = None,
    asking: ModelOptions = ASKING,
    run: RunOptions = RUN,
    progress: ShowProgress = False,
    cancel: Cancel = None,
) -> FingerprintRun:
    """List what code must show to be a reproduction of a paper: criteria, grounded in its own words.

    Example:
        taken = reenact.fingerprint("paper.pdf", model="anthropic:NAME")
        [criterion.fact for criterion in taken.fingerprint.criteria]

    Args:
        paper, task, method, metric, dataset, instruction, addendum: as for `reproduce_paper`.
        without: "scan" (reading every paragraph) or "atomicity" (splitting facts).
        sandbox, trust_code, max_time, model, asking, run, progress, cancel: as for `reproduce_bug`.
    """
    require("models")
    from reenact.paper.fingerprint.pipeline import run_fingerprint
    from reenact.paper.options import Goal, PaperAblations

    left_out = call.some_of("without", without, FINGERPRINT_PARTS)
    goal = Goal(
        task,
        method=method,
        metric=metric,
        dataset=dataset,
        instruction=instruction,
        addendum=call.addendum_text(addendum),
    )
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
    with call.open_session(given, model_for="A paper is read by a model") as session:
        read = session.paper(str(paper))
        return run_fingerprint(
            read,
            goal,
            session.model(),
            session.journal,
            parts=PaperAblations.without(*left_out),
            what=f"{read.title[:80]} ({paper})",
            argv=COMMAND.get(),
            fresh=run.fresh,
            tell=session.tell,
        )


def evaluate(
    code: File,
    *,
    paper: File | None = None,
    align: bool = False,
    reference: File | None = None,
    rubric: File | None = None,
    resources_provided: bool = False,
    forms: tuple[File, ...] = (),
    judgements: File | None = None,
    expert: File | None = None,
    chosen: File | None = None,
    exemplars: int = 3,
    edits: Words = (),
    metrics: tuple[File, ...] = (),
    execute: int = 0,
    data: File | None = None,
    run_time: float = 3600.0,
    metric: str = "",
    value: float | None = None,
    task: str = "",
    instruction: str = "",
    sandbox: str | None = None,
    trust_code: bool | None = None,
    max_time: float | None = None,
    model: str | None = None,
    asking: ModelOptions = ASKING,
    run: RunOptions = RUN,
    progress: ShowProgress = False,
    cancel: Cancel = None,
) -> PaperEvaluation:
    """Score the code of a reproduction: always its quality, and each metric that an argument asks for.

    What no one could judge is stated and never counted as zero.

    Args:
        code: the folder.
        paper: as for `reproduce_paper`.
        align: judge the Align-Score: five key points of the paper, 0 to 100; `reference`, a reference
            implementation, adds the code and mixed levels.
        rubric: judge the code-development leaves of a rubric tree (PaperBench JSON); with
            `resources_provided` getting data and models weighs nothing.
        forms: filled forms of the human rubric; where there is no file yet, an empty form is written.
        judgements: CSV (item, judge, judge, ...): how far the judges agree.
        expert, chosen, exemplars: an expert's list of the cited papers that matter, the lineage to
            compare with it (default: chosen now from the paper), and k of Recall@k.
        edits: count the edits of these runs of `reproduce_paper`.
        metrics: metrics.json of runs; one that is not there counts as failed.
        execute: run train.py with so many seeds in the sandbox, with `data` read-only, each at most
            `run_time` CPU seconds.
        metric, value: the metric of the gap by its name in metrics.json, and what the reference reaches
            of it.
        task, instruction: what of the paper the code is for, and what else it was asked for.
        sandbox, trust_code, max_time, model, asking, run, progress, cancel: as for `reproduce_bug`.
    """
    require("models")
    from reenact.paper.evaluate.evaluation import EvaluateOptions, EvaluateServices
    from reenact.paper.evaluate.evaluation import evaluate as run_evaluation
    from reenact.paper.options import Goal

    call.within("exemplars", exemplars, 1, 20)
    call.within("execute", execute, 0, 20)
    call.within("run_time", run_time, 0, MOST_RUN_S)
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
    with call.open_session(given) as session:
        read = session.paper(str(paper)) if paper else None
        options = EvaluateOptions(
            code=Path(code),
            goal=Goal(task=task, metric=metric, instruction=instruction),
            align=align,
            reference=_folder(reference),
            rubric=_file(rubric),
            resources=resources_provided,
            forms=_filled(forms, read.title if read is not None else ""),
            judgements=_file(judgements),
            expert=_file(expert),
            chosen=_file(chosen),
            exemplars=exemplars,
            execute=execute,
            runs=call.words_of(edits, "edits"),
            metrics=tuple(map(Path, metrics)),
            data=_folder(data),
            run_wall_s=run_time,
            metric=metric,
            value=value,
        )
        # The lineage is chosen by a model only where the user names one for it.
        judged = (options.needs_model and session.settings.model) or (options.expert and model)
        box = session.sandbox() if execute else None
        services = EvaluateServices(
            session.journal,
            model=session.model() if judged else None,
            sandbox=box,
            environments=session.environments(box) if box is not None else None,
            tell=session.tell,
            stop=session.stop,
            argv=COMMAND.get(),
            fresh=run.fresh,
        )
        return run_evaluation(options, read, services)


def _claims(given: Words) -> tuple[str, ...]:
    """The user's claims; `@FILE` stands for the lines of a file."""
    stated = (given,) if isinstance(given, str) else call.words_of(given, "claims")
    files = {one: call.addendum_text(one[1:]).splitlines() for one in stated if one.startswith("@")}
    lines = (line.strip() for one in stated for line in files.get(one, [one]))
    return tuple(line for line in lines if line and not line.startswith("#"))


def _folder(path: File | None, kind: str = "folder") -> Path | None:
    """The path of a folder, or of a file, that must be there."""
    if path is not None and not (Path(path).is_dir() if kind == "folder" else Path(path).is_file()):
        raise InputError(f"There is no such {kind}. Received: {path}.")
    return None if path is None else Path(path)


_file = partial(_folder, kind="file")


def _filled(
    forms: tuple[File, ...],
    title: str,
) -> tuple[Path, ...]:
    """Forms that are there; the others are written to be filled."""
    from reenact.paper.evaluate.people import empty_form

    for file in map(Path, forms):
        if not file.exists():
            file.write_text(empty_form(title), encoding="utf-8")
            NOTICE.get()(f"Wrote an empty form: {file}. Fill it and run the same command again.")
    return tuple(map(Path, forms))
