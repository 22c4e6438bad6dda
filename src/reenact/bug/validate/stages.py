"""All looks at a script before it is run, in their order; the first stage that objects ends them.

It parses and is no larger than a script should be; names, attributes and arguments exist; it
imports the project and exercises it; a silent bug is observed in what the project gives.
"""

import ast
import difflib
from collections.abc import Iterator, Sequence
from contextlib import suppress

from reenact.bug.codebase import Absent, Class, Codebase, Function
from reenact.bug.options import BugAblations
from reenact.bug.reproduction import CallForm, Stage
from reenact.bug.symptom import Symptom
from reenact.bug.validate.bindings import Bindings, Instance, bindings_of, flowing
from reenact.bug.validate.honest import dishonest
from reenact.codegen.edits import LONGEST_SCRIPT
from reenact.codegen.project import Problem
from reenact.codegen.static_checks import does_not_parse, lint
from reenact.codegen.syntax import bound_names, imported_names, marks_of, top_level

SHOWN = 12
"""Names that are offered in place of one that does not exist."""


def objections(
    text: str, project: Codebase, symptom: Symptom, parts: BugAblations | None = None
) -> tuple[Problem, ...]:
    """What is wrong with the script; empty when it may be run."""
    parts = parts or BugAblations()
    broken = does_not_parse(Stage.PARSE, text)
    if not text.strip():
        broken = Problem(Stage.PARSE, "The script is empty.")
    elif len(text) > LONGEST_SCRIPT:
        most = f"The script has more than {LONGEST_SCRIPT} characters. Show the bug, no more."
        broken = Problem(Stage.PARSE, most)
    if broken is not None:
        return (broken,)
    tree = ast.parse(text)
    bindings = bindings_of(tree, project)
    if parts.static:
        misnamed = dict.fromkeys(_misnamed(tree, bindings))
        found = (
            *lint(Stage.STATIC, text),
            *(Problem(Stage.STATIC, one, line=at) for one, at in misnamed),
        )
        if found:
            return found
    if not parts.relevance:
        return ()
    unused = [Problem(Stage.RELEVANCE, one) for one in _unused(tree, bindings, symptom)]
    closing = [Problem(Stage.RELEVANCE, one) for one in _closing(tree, bindings, symptom)]
    return (
        *unused,
        *dishonest(tree, bindings, symptom),
        *closing,
    )


def absent_names(text: str, project: Codebase) -> tuple[tuple[str, str], ...]:
    """Modules of the project and the names that they lack by their text, where that is all that
    static analysis objects to: importing them may give them these names after all.
    """
    tree = ast.parse(text)
    bindings = bindings_of(tree, project)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]
    found: dict[Absent, str] = {}
    for node in nodes:
        names = list(imported_names(node))
        wanted = {one.module for one in names}
        if isinstance(node, ast.ImportFrom):
            wanted |= {one.target for one in names if one.name != "*"}
        looked = [project.find(name) for name in sorted(wanted)]
        if isinstance(node, ast.Attribute):
            looked.append(bindings.what(node))  # type: ignore[arg-type]
        found |= {one: _absent(one) for one in looked if isinstance(one, Absent)}
    sentences = {sentence for sentence, _ in _misnamed(tree, bindings)}
    if not sentences <= set(found.values()) or any(lint(Stage.STATIC, text)):
        return ()
    return tuple((one.module, one.name) for one in found if one.module)


def _misnamed(tree: ast.Module, bindings: Bindings) -> Iterator[tuple[str, int]]:
    """Names, attributes and arguments that the project does not have, each a sentence and its
    line.
    """
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]
    for node in nodes:
        names = list(imported_names(node))
        wanted = dict.fromkeys(one.module for one in names)
        if isinstance(node, ast.ImportFrom):
            wanted |= dict.fromkeys(one.target for one in names if one.name != "*")
        found = map(bindings.project.find, wanted)
        # The first name of an import statement that is not there.
        yield from [(_absent(one), node.lineno) for one in found if isinstance(one, Absent)][:1]
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield from ((one, node.lineno) for one in _attribute(node, bindings))
        elif isinstance(node, ast.Call):
            wrong = _misfits(
                node,
                parameters_of(node.func, bindings),
                ast.unparse(node.func),
            )
            yield from ((one, node.lineno) for one in wrong)


def _attribute(node: ast.Attribute, bindings: Bindings) -> Iterator[str]:
    base = bindings.what(node.value)
    found = bindings.what(node)
    if isinstance(found, Absent) and not isinstance(base, Absent):
        yield _absent(found)
    if isinstance(base, Instance) and isinstance(node.ctx, ast.Load) and not base.of.has(node.attr):
        has = _nearest(node.attr, sorted(base.of.attributes))
        yield f"`{base.of.name}` has no attribute `{node.attr}`. {has}"


def parameters_of(function: ast.expr, bindings: Bindings) -> ast.arguments | None:
    """The parameters of what is called, as far as they are known."""
    called = bindings.what(function)
    if isinstance(called, Class):
        return called.construction()
    if isinstance(called, Instance):
        if called.of.called is not None:
            return called.of.called.signature(bound=True)
        return None
    if not isinstance(called, Function):
        return None
    base = None
    if isinstance(function, ast.Attribute):
        base = bindings.what(function.value)
    by_class = isinstance(base, Class) and "classmethod" in marks_of(called.node)
    return called.signature(bound=by_class or isinstance(base, Instance))


def _misfits(
    call: ast.Call,
    taken: ast.arguments | None,
    name: str,
) -> Iterator[str]:
    """What is wrong with the arguments of a call, one sentence each."""
    if taken is None:
        return
    takes = f"It takes ({ast.unparse(taken)})."
    positional = [one.arg for one in (*taken.posonlyargs, *taken.args)]
    only_named = [one.arg for one in taken.kwonlyargs]
    given = [one.arg for one in call.keywords if one.arg is not None]
    for word in given:
        if (
            word
            not in (
                *positional[len(taken.posonlyargs) :],
                *only_named,
            )
            and taken.kwarg is None
        ):
            yield f"`{name}` has no parameter `{word}`. {takes}"
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    unpacked = len(given) < len(call.keywords)
    if not starred and len(call.args) > len(positional) and taken.vararg is None:
        yield f"`{name}` takes at most {len(positional)} positional arguments. {takes}"
    if starred or unpacked:
        return
    required = set(positional[: len(positional) - len(taken.defaults)])
    required |= {
        one for one, default in zip(only_named, taken.kw_defaults, strict=True) if default is None
    }
    missing = sorted(
        required
        - {
            *positional[: len(call.args)],
            *given,
        }
    )
    if missing:
        yield f"`{name}` is called without {', '.join(f'`{one}`' for one in missing)}. {takes}"


def _absent(absent: Absent) -> str:
    where = f"`{absent.module}`" if absent.module else "the project"
    return f"There is no `{absent.name}` in {where}. {_nearest(absent.name, absent.known)}"


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(
        name,
        known,
        n=3,
        cutoff=0.5,
    ) or list(known[:SHOWN])
    return f"It has: {', '.join(near)}." if near else ""


def _unused(tree: ast.Module, bindings: Bindings, symptom: Symptom) -> Iterator[str]:
    if not any(
        map(
            bindings.project.owns,
            bindings.imported.values(),
        )
    ):
        some = ", ".join(sorted(bindings.project.files.packages)[:8])
        yield f"The script does not import the project. It consists of: {some}."
        return
    by_import = symptom.explicit is not None and symptom.explicit.phase == "import"
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    if not by_import and not any(bindings.is_project(call.func) for call in calls):
        yield "The script imports the project but calls nothing of it."


def _closing(tree: ast.Module, bindings: Bindings, symptom: Symptom) -> Iterator[str]:
    """For a silent bug: the names that the closing check looks at, and where their values come
    from.
    """
    check = symptom.closing
    if check is None or not check.relation.of_a_value:
        return
    top = {name for statement in top_level(tree.body) for name in bound_names(statement)}
    wanted = ("observed", "reference") if check.needs_reference else ("observed",)
    yield from (
        f"The script must leave a top-level value named `{one}`."
        for one in wanted
        if one not in top
    )
    if "observed" in top and "observed" not in flowing(tree, bindings):
        yield "`observed` does not come out of a call of the project, so it shows nothing of it."


def refused_form(script: str, forms: Sequence[CallForm], project: Codebase) -> str:
    """Why a second form of a call may not be used, in words for the model; empty when all may: they
    add keywords with literal values that the buggy revision does not take, and nothing else.
    """
    bindings = bindings_of(ast.parse(script), project)
    for form in forms:
        old = _call(form.call)
        new = _call(form.fixed)
        if old is None or new is None or script.count(form.call) != 1:
            return f"`{form.call}` must be one call that stands in the script just once."
        kept = [ast.dump(one) for one in (old.func, *old.args, *old.keywords)]
        there = [ast.dump(one) for one in (new.func, *new.args, *new.keywords)]
        added = [one for one in new.keywords if ast.dump(one) not in kept]
        if (
            [one for one in there if one in kept] != kept
            or not added
            or len(there) != len(kept) + len(added)
        ):
            return f"`{form.fixed}` may add keywords to `{form.call}` and change nothing else."
        taken = parameters_of(old.func, bindings)
        names = (
            {one.arg for one in (*taken.args, *taken.kwonlyargs)} if taken is not None else set()
        )
        if taken is None or taken.kwarg is not None or any(one.arg in names for one in added):
            why = "a keyword that the buggy revision takes too belongs into the script itself"
            return f"`{form.fixed}`: {why}."
        if not all(isinstance(one.value, ast.Constant) for one in added):
            return f"`{form.fixed}`: the values of added keywords are plain constants."
    return ""


def _call(text: str) -> ast.Call | None:
    with suppress(SyntaxError, ValueError):
        node = ast.parse(text.strip(), mode="eval").body
        return node if isinstance(node, ast.Call) else None
    return None
