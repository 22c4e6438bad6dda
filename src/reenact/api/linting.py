"""`lint`: the static detectors on many files, each read by itself."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from reenact.api.session import File, Words, least_confidence, rules_of, words_of
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judge import diagnose_evidence
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.errors import InputError, UnreadableProgram
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.fix import Fix, FixSafety
from reenact.faults.registry import all_detectors
from reenact.plain import plain_line
from reenact.program.hyperparameter import Kind
from reenact.program.patch import file_diff
from reenact.program.program import Program
from reenact.program.static_graph import static_graph
from reenact.program.syntax.launcher import Launch
from reenact.program.syntax.source import Language, language_of, read_source
from reenact.program.training.framework import Framework, framework_of
from reenact.report.document import Diagnostic, Document, Level, listed
from reenact.report.views.diagnosis import diagnosis_document
from reenact.report.views.static import UNPARSED
from reenact.result import Result
from reenact.sandbox.processes import end_below
from reenact.types import ExitCode, JsonValue, Place

if TYPE_CHECKING:
    from reenact.api.fixing import Fixes

LANGUAGES = (Language.PYTHON, Language.NOTEBOOK)
NOT_OURS = frozenset({"__pycache__", "node_modules", "site-packages"})
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
LINT = DiagnoseOptions(depth=Depth.STATIC)
A_SHARE = 16
"""Files below which another process costs more than it brings."""
SHARES = 16
"""Parts that each process takes in turn: with few, all but one wait for the last."""


@dataclass(frozen=True, slots=True, repr=False)
class LintFinding(Result):
    """One finding of one file."""

    code: str
    """Of the detector that names it, such as RE010."""
    name: str
    file: str
    """As it was named, or as the folder was named and the way from there."""
    line: int | None
    """Counted from 1; none where it has no place in the source."""
    message: str
    """What was seen, and why that is wrong."""
    fix: Fix | None
    """The edit that mends it: it parses, the detector is silent on the edited text, nothing was run.
    """
    data: dict[str, JsonValue]
    """All that is known of it, as `--output-format json` has it."""

    def to_dict(self) -> dict[str, JsonValue]:
        return self.data

    def in_a_line(self) -> str:
        where = f" at {self.file}:{self.line}" if self.line is not None else f" in {self.file}"
        return f"{self.code} {self.name}{where}"

    def __str__(self) -> str:
        change = self.fix.diff.rstrip() if self.fix is not None else ""
        return "\n".join(part for part in (f"{self.in_a_line()}: {self.message}", change) if part)


@dataclass(frozen=True, slots=True)
class Linted:
    """One file and what was found in it."""

    path: str
    """As it was named, or as the folder was named and the way from there."""
    diagnostics: tuple[Diagnostic, ...] = ()
    findings: tuple[LintFinding, ...] = ()
    unread: str = ""
    """Why it could not be understood; empty when it could."""
    is_training: bool = False
    """Whether it imports a framework that the detectors know."""


@dataclass(frozen=True, slots=True, repr=False)
class LintResult(Result):
    """Every file that was read, in the order of the paths."""

    files: tuple[Linted, ...]
    options: DiagnoseOptions = LINT
    """What was looked for."""

    def fix(self, *, unsafe: bool = False, write: bool = True) -> Fixes:
        """Apply the fixes of the findings to the files, file by file until nothing more is to be done.

        Safe fixes leave the training as it is; `unsafe` applies those too that change what is trained.
        Without `write` the files stay as they are, and `.diff` shows what would change.
        """
        from reenact.api.fixing import fix_files

        return fix_files([Path(one.path) for one in self.files], self.options, unsafe, write)

    def fixable(self, safety: FixSafety) -> int:
        """Findings that have such a fix."""
        fixes = (one.fix for one in self.findings)
        return sum(one is not None and one.safety is safety for one in fixes)

    @property
    def findings(self) -> tuple[LintFinding, ...]:
        """All findings, file by file."""
        return tuple(finding for one in self.files for finding in one.findings)

    @property
    def unread(self) -> tuple[Linted, ...]:
        """The files that could not be parsed."""
        return tuple(one for one in self.files if one.unread)

    @property
    def training(self) -> int:
        """Files with a model or a training."""
        return sum(one.is_training for one in self.files)

    @property
    def sentence(self) -> str:
        """The result in a line."""
        if not self.files:
            return "Every file is excluded: nothing was read."
        unparsed = ""
        if self.unread:
            unparsed = f" {_counted(len(self.unread), 'file')} could not be parsed."
        return (
            f"{_counted(len(self.findings), 'finding')} in {_counted(len(self.files), 'file')},"
            f" {self.training} of them with a model or a training.{unparsed}"
        )

    def to_dict(self) -> dict[str, JsonValue]:
        """Findings, and what could not be read."""
        found: dict[str, JsonValue] = {
            "files": len(self.files),
            "training": self.training,
        }
        unread: JsonValue = [
            {
                "file": one.path,
                "reason": one.unread,
            }
            for one in self.unread
        ]
        findings: JsonValue = [finding.to_dict() for finding in self.findings]
        return {
            **found,
            "findings": findings,
            "unread": unread,
        }

    def document(self) -> Document:
        notices: list[Diagnostic] = []
        for file in self.files:
            notices += file.diagnostics
            if file.unread:
                message = f"{plain_line(file.path)} could not be parsed: {file.unread}"
                place = Place(PurePosixPath(file.path), 1)
                notices.append(Diagnostic(*UNPARSED, Level.ERROR, message, place))
        return Document(
            kind="lint",
            title="Static faults",
            verdict=self.sentence,
            blocks=tuple(listed(self._offers, "Fixes")),
            diagnostics=tuple(notices),
            data=self.to_dict(),
            exit_code=self.exit_code,
        )

    @property
    def _offers(self) -> list[str]:
        """How to have the fixes applied."""
        safe, unsafe = (self.fixable(one) for one in FixSafety)
        found = []
        if safe:
            found.append(f"{_counted(safe, 'finding')} fixable with --fix.")
        if unsafe:
            found.append(
                f"{_counted(unsafe, 'finding')} fixable with --fix --unsafe-fixes: these change what"
                " is trained."
            )
        return found

    @property
    def exit_code(self) -> ExitCode:
        """Findings come first; a file that no one could read is never good."""
        if self.findings:
            return ExitCode.FOUND
        return ExitCode.ERROR if self.unread else ExitCode.OK


def lint(
    *paths: File,
    select: Words = (),
    ignore: Words = (),
    exclude: Words = (),
    threshold: float | str = "likely",
) -> LintResult:
    """Say what the text of training programs alone shows to be wrong; nothing is run, no framework
    imported.

    Example:
        reenact.lint("src", exclude="tests").findings

    Args:
        paths: files, notebooks and folders; default: the current folder.
        select, ignore: faults or detectors to look for or to leave out: codes, prefixes, names, categories,
            families.
        exclude: patterns of names or paths to leave out: "tests", "*_test.py".
        threshold: how sure a finding must be at least: proven, likely, possible, or a number.

    Returns:
        One entry a file, with findings, and the files that could not be parsed.
    """
    selected, ignored = rules_of(select, ignore)
    least = least_confidence(threshold)
    named = [Path(path) for path in paths] or [Path()]
    for path in named:
        if not path.exists():
            raise InputError(f"There is no such file or folder. Received: {path}.")
    options = DiagnoseOptions(
        depth=Depth.STATIC,
        select=selected,
        ignore=ignored,
        threshold=least,
    )
    files = sources(named, words_of(exclude, "exclude"))
    if not files and not sources(named):
        # Nothing could be looked at, so nothing is good; leaving all out is the user's own choice.
        received = ", ".join(str(path) for path in named)
        raise InputError(
            f"No Python file or notebook was found. Received: {received}.",
            next_step="Name a .py or .ipynb file, or a folder with such files.",
        )
    return LintResult(tuple(lint_files(files, options)), options)


def sources(
    paths: Sequence[Path],
    exclude: Sequence[str] = (),
) -> list[Path]:
    """The files that are named, and all Python files and notebooks of the folders that are.

    `exclude` are patterns of names or of paths: what matches one is left out, a folder with all it
    holds.
    """
    found: dict[Path, None] = {}
    for path in paths:
        found.update(dict.fromkeys(_below(path, exclude) if path.is_dir() else (path,)))
    return [path for path in found if not _matches(path, exclude)]


def lint_files(files: Sequence[Path], options: DiagnoseOptions) -> list[Linted]:
    """What the detectors say of each file, in the order given; large numbers are shared among
    the cores.
    """
    look = partial(_linted, options=options)
    workers = min(os.cpu_count() or 1, len(files) // A_SHARE)
    # Children of a process with several threads may inherit a lock that no one will ever release.
    if workers < 2 or threading.active_count() > 1:
        return [look(file) for file in files]
    # Imported here: most calls read a few files, and these two take longer than that.
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # The children inherit the loaded detectors; starting fresh ones would take longer than the
    # reading.
    all_detectors()
    with ProcessPoolExecutor(
        workers, mp_context=get_context("fork"), initializer=_ignore_interrupts
    ) as pool:
        try:
            # An interrupt in the middle of a fork would print a traceback of the interpreter: it
            # waits.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
            try:
                found = pool.map(
                    look,
                    files,
                    chunksize=max(1, len(files) // (SHARES * workers)),
                )
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return list(found)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            end_below(os.getpid())
            raise


def _ignore_interrupts() -> None:
    """Ctrl-C reaches the whole group: the parent handles it and ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)


def _below(folder: Path, exclude: Sequence[str]) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        inside = [
            Path(here, name)
            for name in folders
            if not name.startswith(".") and name not in NOT_OURS
        ]
        # Nor an environment with other people's packages.
        kept = [path for path in inside if not (path / "pyvenv.cfg").exists()]
        folders[:] = sorted(path.name for path in kept if not _matches(path, exclude))
        ours = [name for name in sorted(names) if language_of(PurePosixPath(name)) in LANGUAGES]
        yield from (Path(here, name) for name in ours)


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    return any(fnmatch(path.name, each) or fnmatch(str(path), each) for each in patterns)


def program_of(path: Path) -> Program:
    """A file as a program of its own: its imports are not followed."""
    source = read_source(path.parent, PurePosixPath(path.name))
    return Program(
        path.parent,
        entry=source.path,
        files=(source,),
        launch=Launch(path.name),
        working=path.parent,
    )


def judged(program: Program, options: DiagnoseOptions) -> Diagnosis | None:
    """What the detectors say of the text of one file; none for one that is not a training. Raises
    UnreadableProgram.
    """
    if framework_of(program) is Framework.UNKNOWN:
        return None
    graph = static_graph(program)
    found = diagnose_evidence(Evidence(program, graph), options)
    if graph.of_kind(Kind.OPTIMIZER):
        return found
    # Half of a program: what its training lacks may stand in another file.
    kept = tuple(one for one in found.findings if not one.is_of_training)
    return replace(found, findings=kept)


def _linted(path: Path, options: DiagnoseOptions) -> Linted:
    program = program_of(path)
    if program.unparsed:
        return Linted(
            str(path),
            unread=program.unparsed[0].unparsed,
        )
    try:
        found = judged(program, options)
    except UnreadableProgram as error:
        return Linted(str(path), unread=error.sentence)
    if found is None:
        return Linted(str(path))
    found = replace(found, findings=tuple(_named(one, path, program) for one in found.findings))
    notices = list(diagnosis_document(found, str(path)).diagnostics)
    for at, one in enumerate(notices):
        # With the file as it was named, so that editors and annotations find it.
        if one.place is not None:
            notices[at] = replace(
                one,
                place=replace(one.place, file=PurePosixPath(path)),
            )
    findings = tuple(_finding(finding, str(path)) for finding in found.findings)
    return Linted(
        str(path),
        tuple(notices),
        findings,
        is_training=True,
    )


def _named(finding: Finding, path: Path, program: Program) -> Finding:
    """The finding with a fix whose diff names the file as it was named."""
    fix = finding.fix
    if fix is None:
        return finding
    return replace(
        finding, fix=replace(fix, diff=named_diff(path, program, fix.patch.apply(program)))
    )


def named_diff(path: Path, before: Program, after: Program) -> str:
    """What differs in the one file of a program, as a diff that names it as it was named."""
    old, new = (one.files[0].raw for one in (before, after))
    return "".join(file_diff(PurePosixPath(path).as_posix(), old, new))


def _finding(finding: Finding, path: str) -> LintFinding:
    return LintFinding(
        code=finding.code,
        name=finding.name,
        file=path,
        line=finding.line,
        message=finding.message,
        fix=finding.fix,
        data={
            **finding.to_dict(),
            "file": path,
        },
    )


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
