"""A patch that a model proposes: kept only where the proven script and test pass with it, and the
project's own tests that touch the changed code do what they did before.

It is handed over as a diff and is called proposed: whether it fixes the bug in every case is not known.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.bug.cause.edits import WorkingCopy, diff_of
from reenact.bug.cause.own_tests import TestsRun, run_tests, tests_that_touch
from reenact.bug.declared import TESTS
from reenact.bug.generate import Case
from reenact.bug.project_files import ProjectFiles
from reenact.bug.repro.facts import facts_from
from reenact.bug.repro.judged import Judgement, judged
from reenact.bug.reproduction import ProposedPatch, Reproduction
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.codegen.syntax import parsed
from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.llm.ask import Prompt, bounded
from reenact.llm.prompts import load_prompt

MOST_PROPOSALS = 3
MOST_EDITS = 12
LONGEST = 20_000
"""Characters of an edit."""
AROUND = 40
"""Lines shown around a place."""
MOST_CODE = 60_000
"""Characters of code that are shown."""


class TextEdit(BaseModel):
    """New text in the place of one that occurs once in a file."""

    path: str = Field(max_length=300, description="File, relative to the project.")
    old: str = Field(
        min_length=1, max_length=LONGEST, description="Text that occurs exactly once in the file."
    )
    new: str = Field(max_length=LONGEST, description="What takes its place.")


class PatchAnswer(BaseModel):
    """A patch as a model gives it."""

    edits: list[TextEdit] = Field(min_length=1, max_length=MOST_EDITS)
    why: str = bounded(600, "Why the bug goes away.")


def proposed(found: Reproduction, case: Case, run: Scope) -> ProposedPatch | None:
    """The patch that passes, or why none was found; none where nothing was shown."""
    if not found.repro:
        return None
    feedback = "There was none."
    with TemporaryDirectory(prefix="reenact-patch-") as folder:
        trial = _Trial(found, case, WorkingCopy(case.buggy, Path(folder)))
        for number in range(MOST_PROPOSALS):
            place = run.under("patch", attempt=number)
            case.say(f"propose patch {number + 1} of at most {MOST_PROPOSALS}")
            try:
                answer = ask(
                    place,
                    model=case.model,
                    name="propose",
                    prompt=_prompt(found, case, feedback),
                    answer=PatchAnswer,
                    check=lambda one: _texts_after(one, case.buggy.files) and None,
                )
            except AnswerUnusable as error:
                return ProposedPatch(why_not=f"no patch could be used: {error.sentence}")
            texts = _texts_after(answer, case.buggy.files)
            objection, tests = trial.objection(texts)
            if not objection:
                return ProposedPatch(
                    diff=diff_of(case.buggy.files.texts, texts), why=answer.why, tests=tests
                )
            feedback = objection
    return ProposedPatch(why_not=f"none of {MOST_PROPOSALS} patches passed, the last: {feedback}")


def _texts_after(answer: PatchAnswer, files: ProjectFiles) -> dict[PurePosixPath, str]:
    """The changed files. Raises ValueError in words for the model."""
    texts: dict[PurePosixPath, str] = {}
    for edit in answer.edits:
        path = PurePosixPath(edit.path)
        text = texts.get(path, files.texts.get(path))
        if text is None:
            raise ValueError(f"There is no file {edit.path} among the project's Python files.")
        if TESTS & set(path.parts[:-1]) or path.name.startswith("test_"):
            raise ValueError(f"{edit.path} is a test; fix the code that it tests.")
        if text.count(edit.old) != 1:
            raise ValueError(f"The text to replace occurs {text.count(edit.old)} times in {path}.")
        texts[path] = text.replace(edit.old, edit.new)
    for path, text in texts.items():
        if parsed(text) is None:
            raise ValueError(f"{path} is not Python after the edits.")
    return texts


class _Trial:
    """Runs what is proposed."""

    def __init__(self, found: Reproduction, case: Case, copy: WorkingCopy) -> None:
        self._found = found
        self._case = case
        self._copy = copy
        self._runner = with_pytest(case.runner)
        self._before: dict[tuple[PurePosixPath, ...], TestsRun] = {}

    def objection(self, texts: Mapping[PurePosixPath, str]) -> tuple[str, str]:
        """Why a patch is refused, empty where it is not; and what the project's tests did."""
        revision = self._copy.with_texts(texts)
        case = self._case
        case.say("run the script and the project's tests with the patch")
        one = judged(self._found.repro, facts_from(self._found.facts), revision, case.runner)
        if one.judgement is not Judgement.DOES_NOT_SHOW:
            return f"With the patch: {one.sentence}", ""
        if self._found.test:
            tried = case.runner.try_out(self._found.repro, self._found.test, revision)
            if tried.test_failed is not False:
                return "With the patch the test of the bug still fails.", ""
        return self._own_tests(texts, revision)

    def _own_tests(self, texts: Mapping[PurePosixPath, str], revision: Revision) -> tuple[str, str]:
        files = self._case.buggy.files
        names = {
            frame.function
            for run in (self._found.showing.runs if self._found.showing else ())
            for frame in run.observation.project_frames
        }
        paths = tests_that_touch(files, texts, names)
        if paths not in self._before:
            self._before[paths] = run_tests(self._runner, self._case.buggy, paths)
        before = self._before[paths]
        if before.why:
            return "", f"The project's own tests say nothing: {before.why}."
        after = run_tests(self._runner, revision, paths)
        broken = before.broken_by(after)
        if after.why or broken:
            named = after.why or ", ".join(broken[:5])
            return f"Tests of the project that passed before do not with the patch: {named}", ""
        kept = sum(before.passed.values())
        return "", f"{kept} tests of the project that touch the changed code pass as before."


def with_pytest(runner: ScriptRunner) -> ScriptRunner:
    """The runner with pytest in its environment, where it can be had."""
    rebuild: Callable[..., object] | None = runner.rebuild
    has = any(one.startswith("pytest==") for one in runner.environment.packages)
    if rebuild is None or has or runner.environment.key.startswith("here-"):
        return runner
    other = ScriptRunner(
        runner.runner,
        runner.environment,
        runner.stubs,
        rebuild=runner.rebuild,
        missing=list(runner.missing),
    )
    other.repair("pytest")
    return other


def _prompt(found: Reproduction, case: Case, feedback: str) -> Prompt:
    shown = found.shown
    frames = shown.observation.project_frames if shown is not None else ()
    places = [(frame.file, frame.line) for frame in reversed(frames)]
    cause = found.cause
    suspected = "Nothing in particular."
    if cause is not None:
        suspected = "\n".join([cause.how, *cause.lines])
        for line in cause.lines:
            file, _, rest = line.partition(":")
            number = rest.partition(":")[0]
            places += [(file, int(number))] if number.isdigit() else []
    seen = [shown.sentence if shown is not None else "", *map(str, frames[-8:])]
    return load_prompt("reenact.bug", "prompts/patch.md").fill(
        report=case.report,
        script=found.script,
        seen="\n".join(filter(None, seen)),
        suspected=suspected,
        code=_code(case.buggy.files, places),
        feedback=feedback,
    )


def _code(files: ProjectFiles, places: Sequence[tuple[str, int]]) -> str:
    """The lines around these places, each file once: whole where it is short."""
    wanted: dict[PurePosixPath, set[int]] = {}
    for file, line in places:
        path = PurePosixPath(file)
        if path in files.texts:
            around = range(max(1, line - AROUND), line + AROUND + 1)
            wanted.setdefault(path, set()).update(around)
    parts: list[str] = []
    for path, numbers in wanted.items():
        lines = files.texts[path].splitlines()
        if len(lines) <= 4 * AROUND:
            numbers = set(range(1, len(lines) + 1))
        text: list[str] = []
        before = 0
        for number in sorted(one for one in numbers if one <= len(lines)):
            if number != before + 1:
                text.append(f"... {number - before - 1} lines left out ...")
            text.append(lines[number - 1])
            before = number
        parts.append(f"## {path}\n" + "\n".join(text))
    return "\n\n".join(parts)[:MOST_CODE] or "Nothing could be located."
