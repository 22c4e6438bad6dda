"""`lint --fix`: the fixes of findings, put into the files until nothing is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reenact.api.linting import judged, named_diff, program_of
from reenact.diagnosis.options import DiagnoseOptions
from reenact.errors import InputError, PatchRefused, UnreadableProgram
from reenact.faults.finding import Finding
from reenact.faults.fix import FixSafety
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.result import Result

MOST_ROUNDS = 20
"""Times that one file is read again after an edit: a fix may show the next fault."""


@dataclass(frozen=True, slots=True)
class AppliedFix:
    """One fix that was put into a file."""

    code: str
    name: str
    line: int | None
    """Where the finding was in the file as it was then."""
    safety: FixSafety


@dataclass(frozen=True, slots=True)
class FileFixes:
    """One file and the fixes that it got."""

    path: str
    diff: str
    """What changes, as a unified diff; empty where nothing does."""
    applied: tuple[AppliedFix, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Fixes(Result):
    """What `lint --fix` did, or would do."""

    files: tuple[FileFixes, ...]
    """Those that change."""
    written: bool
    """Whether the files were changed."""

    @property
    def applied(self) -> tuple[AppliedFix, ...]:
        """Every fix, file by file."""
        return tuple(fix for one in self.files for fix in one.applied)

    @property
    def diff(self) -> str:
        """All changes as one diff."""
        return "".join(one.diff for one in self.files)

    @property
    def sentence(self) -> str:
        """How many findings were fixed, in a line."""
        if not self.files:
            return "Nothing was fixed." if self.written else "Nothing would be fixed."
        fixed = "fixed" if self.written else "would be fixed"
        findings = f"{len(self.applied)} finding{'' if len(self.applied) == 1 else 's'}"
        files = f"{len(self.files)} file{'' if len(self.files) == 1 else 's'}"
        return f"{findings} in {files} {fixed}."


def fix_files(files: Sequence[Path], options: DiagnoseOptions, unsafe: bool, write: bool) -> Fixes:
    """Fix every file that can be read; with `write` on disk."""
    changed = []
    for path in files:
        before = program_of(path)
        after, applied = fixed(before, options, unsafe=unsafe)
        diff = named_diff(path, before, after)
        if not diff:
            continue
        if write:
            put_in_place(path, before, after)
        changed.append(FileFixes(str(path), diff, applied))
    return Fixes(tuple(changed), write)


def fixed(
    program: Program, options: DiagnoseOptions, *, unsafe: bool
) -> tuple[Program, tuple[AppliedFix, ...]]:
    """The program of one file after its fixes, and which these were."""
    applied: list[AppliedFix] = []
    texts = {program.files[0].raw}
    for _ in range(MOST_ROUNDS):
        found = _findings(program, options)
        patch, used = _together(found, program, unsafe=unsafe)
        edited = patch.apply(program)
        if edited.files[0].raw in texts:
            # Nothing to do, or two fixes that undo each other.
            break
        texts.add(edited.files[0].raw)
        program = edited
        applied += used
    return program, tuple(applied)


def _findings(program: Program, options: DiagnoseOptions) -> tuple[Finding, ...]:
    if program.unparsed:
        return ()
    try:
        found = judged(program, options)
    except UnreadableProgram:
        return ()
    return found.findings if found is not None else ()


def _together(
    findings: Sequence[Finding], program: Program, *, unsafe: bool
) -> tuple[Patch, list[AppliedFix]]:
    """As many fixes as can be made at once: of two that touch each other the first, and the other in
    the next round.
    """
    patch = Patch()
    used = []
    for one in sorted(findings, key=lambda one: one.line or 0):
        fix = one.fix
        if fix is None or (fix.safety is FixSafety.UNSAFE and not unsafe):
            continue
        try:
            (patch + fix.patch).apply(program)
        except PatchRefused:
            continue
        patch += fix.patch
        used.append(AppliedFix(one.code, one.name, one.line, fix.safety))
    return patch, used


def put_in_place(path: Path, before: Program, after: Program) -> None:
    """In place, so that links and permissions stay. Raises InputError where somebody else wrote."""
    if path.read_bytes() != before.files[0].encode():
        raise InputError(
            f"The file was changed while it was read, and is not overwritten. Received: {path}.",
            next_step="Run the same command again.",
        )
    path.write_bytes(after.files[0].encode())
