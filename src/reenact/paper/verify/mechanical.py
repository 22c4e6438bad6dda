"""A check against the code, by program alone: named values, hyperparameters in force, calls;
nothing runs.

Pass: the value is under that name, and no other value does; where the reader of hyperparameters
can follow a value to the training that takes it, that value alone counts. Fail: another value
is there, and the right one nowhere. Both only where the scope of the criterion is: the batch
size of a metric's classifier is not that of the training. Everything between (several values, a
name that only resembles, another place, a loss or layer that may be written by hand) is a hint for
the judge. What was decided and assumed is held against the code in the same way: the settings that
a sentence names with a number. So is found which verdicts a revision leaves alone.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from reenact.codegen.project import ENTRY, Project
from reenact.codegen.syntax import Definition, targets_of, top_level
from reenact.errors import UnreadableProgram
from reenact.paper.criterion import CodeLine, CriterionCheck, Judged, Kind
from reenact.paper.criterion import Value as Verdict
from reenact.paper.fingerprint.vocabulary import (
    SECTIONS,
    common,
    concept,
    named,
    names,
    squeezed,
    words_of,
)
from reenact.paper.quantity import Quantity, as_quantity, quantities, ready
from reenact.paper.verify.settings import (
    DATA,
    Setting,
    Value,
    last_name,
    line_at,
    read_names,
    settings_of,
)
from reenact.program.hyperparameter import Kind as HyperparameterKind
from reenact.program.program import program_from_text

SHOWN = 6
"""Lines that a finding names."""
ROLES = {
    Kind.OPTIMISER: "optimiser",
    Kind.SCHEDULE: "schedule",
    Kind.LOSS: "loss",
    Kind.LAYER: "activation",
}
"""The setting that may name such a thing by a word."""
DECIDED = (Kind.OPTIMISER, Kind.SCHEDULE)
"""Kinds of which a training has one: another one is a fail."""
OWN_SCHEDULES = frozenset(("LambdaLR", "LearningRateScheduler", "SequentialLR", "LambdaCallback"))
"""Calls that may make any schedule."""
_BEFORE = re.compile(
    r"([\w-]+(?:[ -][\w-]+){0,2}?)\s*(?:(?:is|are|was|of|to|at|set|equal|fixed|=|:)\s*)*$"
)
_AFTER = re.compile(r"\s*([\w-]+(?:[ -][\w-]+){0,2})")
LEAST = 5
"""Letters of a name that means a setting in any sentence."""
PROSE = (".md", "requirements.txt")
"""How files end that no code reads."""
_NAME = re.compile(r"[A-Za-z_]\w*")
STANDS = "Judged in an earlier version; what it rests on has not changed since."


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """What a program saw of one criterion."""

    value: Verdict | None
    """Pass or fail; none when a program cannot tell, and what it saw is a hint."""
    seen: str
    lines: tuple[CodeLine, ...] = ()
    refutes: bool = False
    """A function gave other values than the formula: no judge may call that a pass."""


NOTHING = CodeFinding(None, "A program found nothing that it could compare.")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a program sees of a project."""

    settings: tuple[Setting, ...]
    """Every value under a name, whether it is used or not."""
    hyperparameters: tuple[Setting, ...]
    """Values in force where a training takes them, followed through names and config files."""
    calls: tuple[tuple[str, CodeLine], ...]
    """The last part of every name that is called."""
    read: frozenset[str] | None = None
    """Names that the code reads; none when it may read any."""

    def uses(self, one: Setting) -> bool:
        """Whether anything takes this value, as far as the text shows."""
        return one.given or self.read is None or squeezed(one.name) in self.read


def read_project(project: Project) -> Reading:
    """Everything; a file that is not Python or no data adds nothing."""
    trees = project.trees()
    walked = ((name, node) for name, tree in trees.items() for node in ast.walk(tree))
    called = [(name, one, last_name(one.func)) for name, one in walked if isinstance(one, ast.Call)]
    calls = tuple(
        (
            to,
            line_at(name, project.files[name], one.lineno),
        )
        for name, one, to in called
        if to
    )
    names = list(map(read_names, trees.values()))
    read = None
    if None not in names:
        read = frozenset().union(*(one for one in names if one))
    return Reading(
        settings_of(project),
        tuple(_hyperparameters(project)),
        calls,
        read,
    )


def _hyperparameters(project: Project) -> Iterator[Setting]:
    from reenact.program.training.reading import read

    if ENTRY not in project.files:
        return
    readable = (
        name for name in sorted(project.files) if PurePosixPath(name).suffix in {".py", *DATA}
    )
    others = {name: project.files[name] for name in readable if name != ENTRY}
    try:
        params = read(
            program_from_text(project.files[ENTRY], name=ENTRY, others=others)
        ).hyperparameters
    except UnreadableProgram:
        return
    for param in params:
        value = param.in_force
        file = str(param.place.file)
        ours = "hidden units"
        if param.kind is not HyperparameterKind.UNITS:
            ours = concept(param.kind.value)
        counts = ours and not param.absent and param.role != "output"
        if counts and isinstance(value, bool | int | float | str):
            yield Setting(
                ours,
                value,
                line_at(file, project.files[file], param.place.line),
                given=True,
            )


def looked_up(check: CriterionCheck | None, code: Reading, scope: str = "") -> CodeFinding:
    """What the code says about it. `scope` has the words that tell where it must hold."""
    if check is None or check.kind in (Kind.SHAPE, Kind.FORMULA):
        return NOTHING
    number = as_quantity(check.value)
    if number is not None and check.kind in (Kind.PARAMETER, Kind.LAYER):
        return _number(
            check,
            number,
            code,
            words_of(f"{scope} {check.subject}") & common("roles"),
        )
    if check.kind in SECTIONS:
        return _thing(check, code)
    return _word(check, code)


def _number(
    check: CriterionCheck,
    wanted: Quantity,
    code: Reading,
    scope: frozenset[str],
) -> CodeFinding:
    """A verdict on a usual setting, of which there may be several, rests on one within the
    scope.
    """
    there = [
        [one for one in group if _numeric(one.value)]
        for group in (code.hyperparameters, code.settings)
    ]
    under = ([one for one in group if _is(check.subject, one.name)] for group in there)
    strong = next(filter(None, under), [])
    if not strong:
        mine = words_of(check.subject)
        theirs = [
            (
                one,
                words_of(concept(one.name) or one.name),
            )
            for one in there[1]
        ]
        # All words of one are among those of the other.
        weak = [one for one, yours in theirs if mine and yours and (yours <= mine or mine <= yours)]
        return _found(None, "Names that resemble it:", weak) if weak else NOTHING
    found = _compared(check, wanted, strong, code)
    # Whether it belongs to the network, training or measure that is meant, as far as names tell.
    places = (words_of(" ".join((one.name, *one.inside))) & common("roles") for one in strong)
    if found.value is not None and concept(check.subject) and scope not in places:
        return _found(None, f"{check.subject} stands in another place than it is about:", strong)
    return found


def _compared(
    check: CriterionCheck,
    wanted: Quantity,
    strong: Sequence[Setting],
    code: Reading,
) -> CodeFinding:
    right = [one for one in strong if _equals(one.value, wanted)]
    if len(right) == len(strong):
        return _passed(check, right, code)
    if right:
        return _found(None, f"{check.subject} has several values:", strong)
    if any(_equals(one.value, wanted) for one in code.settings):
        return _found(
            None,
            f"{check.subject} has another value; {check.value} is elsewhere:",
            strong,
        )
    other = ", ".join(dict.fromkeys(str(one.value) for one in strong))
    return _found(
        Verdict.FAIL,
        f"{check.subject} is {other} in the code, not {check.value}.",
        strong,
    )


def _passed(check: CriterionCheck, right: Sequence[Setting], code: Reading) -> CodeFinding:
    """The value is there; whether that does anything depends on somebody reading it."""
    if any(code.uses(one) for one in right):
        return _found(
            Verdict.PASS,
            f"{check.subject} is {check.value} in the code.",
            right,
        )
    return _found(
        None,
        f"{check.subject} is {check.value}, but nothing seems to read it:",
        right,
    )


def _word(check: CriterionCheck, code: Reading) -> CodeFinding:
    """A setting whose value is a word: another word may mean the same, so this never fails."""
    strong = [
        one for one in code.settings if isinstance(one.value, str) and _is(check.subject, one.name)
    ]
    right = [one for one in strong if squeezed(str(one.value)) == squeezed(check.value)]
    if strong and len(right) == len(strong):
        return _passed(check, right, code)
    if strong:
        return _found(None, f"{check.subject} in the code:", strong)
    return NOTHING


def _thing(check: CriterionCheck, code: Reading) -> CodeFinding:
    """An optimiser, schedule, loss or layer, by what is called and what a setting names."""
    wanted = named(check.kind, check.value)
    if not wanted:
        return NOTHING
    section = names(SECTIONS[check.kind])
    role = ROLES[check.kind]
    words = [
        one for one in code.settings if isinstance(one.value, str) and concept(one.name) == role
    ]
    met = [
        *code.calls,
        *((str(one.value), one.line) for one in words),
    ]
    found = [(section[squeezed(name)], line) for name, line in met if squeezed(name) in section]
    right = [line for name, line in found if name == wanted]
    others = {name: line for name, line in found if name != wanted}
    alone = check.kind is Kind.LAYER or not others
    if right and alone:
        return CodeFinding(
            Verdict.PASS,
            f"{wanted} stands in the code.",
            tuple(right[:SHOWN]),
        )
    if right or not others:
        hint = (
            f"{wanted} stands in the code next to {', '.join(others)}." if right else NOTHING.seen
        )
        return CodeFinding(None, hint, tuple(right[:SHOWN]))
    seen = f"The code has {', '.join(others)}, not {wanted}."
    decided = check.kind in DECIDED and not any(name in OWN_SCHEDULES for name, _ in code.calls)
    return CodeFinding(
        Verdict.FAIL if decided else None,
        seen,
        tuple(others.values())[:SHOWN],
    )


def _is(subject: str, name: str) -> bool:
    """Whether the name is the subject's: the same words, or names of the same usual parameter."""
    ours = concept(subject)
    if ours and ours == concept(name):
        return True
    mine = words_of(subject, plural=True)
    yours = words_of(name, plural=True)
    return squeezed(subject) == squeezed(name) or (bool(mine) and mine == yours)


def _numeric(value: Value) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_numeric, value))
    if isinstance(value, str):
        return as_quantity(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equals(value: Value, wanted: Quantity) -> bool:
    """A list equals a number when all of it does: two hidden layers of 64."""
    if isinstance(value, tuple):
        return all(_equals(one, wanted) for one in value)
    if isinstance(value, str):
        return any(wanted.equals(one) for one in quantities(value)[:1])
    return isinstance(value, int | float) and wanted.equals(Quantity(float(value)))


def _found(
    value: Verdict | None,
    words: str,
    settings: Iterable[Setting],
) -> CodeFinding:
    there = tuple(settings)[:SHOWN]
    seen = words if value is not None else f"{words} {'; '.join(map(str, there))}"
    return CodeFinding(
        value,
        seen,
        tuple(dict.fromkeys(one.line for one in there)),
    )


def beside_code(sentence: str, code: Reading) -> str:
    """The sentence, and what the code has of the settings in it where a program can tell."""
    found = [looked_up(check, code, sentence) for check in named_settings(sentence)]
    held = dict.fromkeys(
        str(line) for one in found if one.value is Verdict.PASS for line in one.lines
    )
    otherwise = [
        f"{one.seen} ({one.lines[0]})" for one in found if one.value is Verdict.FAIL and one.lines
    ]
    if otherwise:
        return f"{sentence} [not so in the code: {' '.join(otherwise)}]"
    if held:
        return f"{sentence} [so in the code: {', '.join(held)}]"
    return sentence


def named_settings(sentence: str) -> Iterator[CriterionCheck]:
    """Usual settings with the number that the sentence gives them."""
    text = ready(sentence)
    for one in quantities(sentence):
        before = _BEFORE.search(text[: one.start])
        after = _AFTER.match(text[one.start + len(one.written) :])
        for words in (before, after):
            subject = ""
            if words:
                subject = _usual(words[1], last=words is before)
            if subject:
                yield CriterionCheck(Kind.PARAMETER, subject, one.written.strip())
                break


def _usual(words: str, *, last: bool) -> str:
    """Our name of the setting that these words end or begin with; empty when there is none."""
    parts = words.split()
    for count in range(len(parts), 0, -1):
        name = " ".join(parts[-count:] if last else parts[:count])
        if len(squeezed(name)) >= LEAST and (ours := concept(name)):
            return ours
    return ""


@dataclass(frozen=True)
class Earlier:
    """A version that was verified before, and what was found of it."""

    project: Project
    judged: tuple[Judged, ...]


def carried(earlier: Earlier, project: Project) -> dict[str, Judged]:
    """Passes of a judge of the earlier version that stand for this one, by criterion: they are not
    asked for again. The files of their lines are the same and use nothing that was defined
    otherwise: no constant, function or class of another file that changed, or that is made with
    one. Not seen is whether something else still calls that code; the second judge reads all of the
    kept version.
    """
    before = earlier.project.files
    after = project.files
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if any(not name.endswith((".py", *PROSE)) for name in changed):
        # A file of settings may be read by any code.
        return {}
    # Constants, functions and classes that changed, came or went, and what is made with them.
    old = _definitions(earlier.project)
    new = _definitions(project)
    other = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    while more := {
        name for name, made in new.items() if name not in other and _spoken(made) & other
    }:
        other |= more
    same = {name for name in after if name not in changed and not _spoken(after[name]) & other}
    passed = [one for one in earlier.judged if one.value is Verdict.PASS and one.by == "judge"]
    kept = [one for one in passed if {line.file for line in one.lines} <= same]
    reasons = {one.criterion: one.reason.removesuffix(STANDS).rstrip() for one in kept}
    return {
        one.criterion: replace(
            one,
            reason=f"{reasons[one.criterion]} {STANDS}",
        )
        for one in kept
    }


def _definitions(project: Project) -> Mapping[str, str]:
    """Names that files define at their top, with the code that does it; equal names of two
    files together.
    """
    found: dict[str, str] = {}
    for tree in project.trees().values():
        for node in top_level(tree.body):
            assigns = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
            parts = [one for target in targets_of(node) if assigns for one in ast.walk(target)]
            names = [one.id for one in parts if isinstance(one, ast.Name)]
            for name in [node.name] if isinstance(node, Definition) else names:
                found[name] = f"{found.get(name, '')}{ast.unparse(node)}\n"
    return found


def _spoken(source: str) -> frozenset[str]:
    """Every name in a text; the strings of Python too, by which `getattr` may find a thing."""
    return frozenset(_NAME.findall(source))
