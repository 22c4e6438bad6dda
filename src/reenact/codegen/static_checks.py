"""What can be seen of generated code by reading it; nothing of it is imported or run.

It parses, ruff's rules of plain errors find nothing, its own modules and their names exist, and
what it imports from outside is installed.
"""

import ast
import json
from collections.abc import Iterator

from reenact.codegen.environment import Environment
from reenact.codegen.project import Problem, Project
from reenact.codegen.syntax import Definition, bound_names, imported_names, top_level
from reenact.host_program import find_program, run_host_program

PLAIN_ERRORS = "E9,F50,F63,F7,F82"
"""Undefined names, broken formats, statements out of place."""
SHAPES = "F722"
"""Words in annotations that are not Python: `Float[Tensor, "rows columns"]` of jaxtyping."""
WALL_S = 60.0


def lint(where: str, text: str, file: str = "") -> Iterator[Problem]:
    """What ruff's rules of plain errors find in one file; nothing where ruff is not installed."""
    for code, message, line in ruff(text, "--select", PLAIN_ERRORS, "--ignore", SHAPES) or ():
        yield Problem(
            where,
            f"{message} ({code})",
            file,
            line,
        )


def ruff(text: str, *options: str) -> list[tuple[str, str, int]] | None:
    """Code, message and line of all that ruff finds in a text; none when it cannot be asked.

    The text is data on ruff's standard input, and no configuration of the user's or the project's
    is read.
    """
    program = find_program("ruff")
    if program is None:
        return None
    argv = [
        program,
        "check",
        "--isolated",
        "--no-cache",
        *options,
        "--output-format",
        "json",
        "-",
    ]
    try:
        done = run_host_program(
            argv,
            wall_s=WALL_S,
            stdin=text.encode("utf-8", "surrogatepass"),
        )
        found = json.loads(done.stdout)
    except (OSError, ValueError):
        return None
    return [
        (
            one["code"],
            one["message"],
            one["location"]["row"],
        )
        for one in found
    ]


def does_not_parse(where: str, text: str, file: str = "") -> Problem | None:
    """Why a text is not Python; none when it is."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return Problem(
            where,
            f"It does not parse: {error.msg}.",
            file,
            error.lineno or 0,
        )
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(where, f"It does not parse: {error}.", file)
    return None


def unparsed_files(where: str, project: Project) -> tuple[Problem, ...]:
    """Python files of a project that do not parse."""
    found = (does_not_parse(where, text, name) for name, text in project.python.items())
    return tuple(one for one in found if one is not None)


def lint_project(where: str, project: Project) -> Iterator[Problem]:
    """What ruff finds in the Python files of a project."""
    for name, text in project.python.items():
        yield from lint(where, text, name)


def missing_modules(where: str, environment: Environment) -> Iterator[Problem]:
    """Modules from outside that are not installed, and what would bring them."""
    for module in environment.lacking:
        offered = ""
        if environment.proposed:
            offered = f" Proposed: {', '.join(environment.proposed)}."
        why = ""
        if environment.notes:
            why = f" {' '.join(environment.notes)}"
        yield Problem(
            where,
            f"The module `{module}` cannot be imported here.{offered}{why}",
        )


def unresolved_imports(where: str, project: Project) -> Iterator[Problem]:
    """Imports of project modules and names that are not there."""
    trees = project.trees()
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                yield from _from(
                    where,
                    node=node,
                    file=file,
                    trees=trees,
                    project=project,
                )
            elif isinstance(node, ast.Import):
                for one in node.names:
                    top = one.name.partition(".")[0]
                    rest = one.name.replace(".", "/")
                    if top in project.modules and "." in one.name and not _module(rest, trees):
                        yield Problem(
                            where,
                            f"There is no project module `{one.name}`.",
                            file,
                            node.lineno,
                        )


def _from(
    where: str,
    node: ast.ImportFrom,
    file: str,
    trees: dict[str, ast.Module],
    project: Project,
) -> Iterator[Problem]:
    base = ""
    if node.level and "/" in file:
        base = file.rsplit("/", node.level)[0]
    path = (node.module or "").replace(".", "/")
    if node.level:
        path = f"{base}/{path}".strip("/")
    elif path.partition("/")[0] not in project.modules:
        return
    found = _module(path, trees)
    if not found and not any(name.startswith(f"{path}/") for name in trees):
        yield Problem(
            where,
            f"There is no project module `{node.module or '.'}`.",
            file,
            node.lineno,
        )
        return
    names = defined_names(trees[found]) if found else set()
    for one in node.names:
        inner = _module(
            f"{path}/{one.name}".strip("/"),
            trees,
        )
        if one.name != "*" and one.name not in names and not inner and "*" not in names:
            yield Problem(
                where,
                f"`{node.module or '.'}` has no `{one.name}` to import.",
                file,
                node.lineno,
            )


def _module(path: str, trees: dict[str, ast.Module]) -> str:
    return next(
        (name for name in (f"{path}.py", f"{path}/__init__.py") if name in trees),
        "",
    )


def defined_names(tree: ast.Module) -> set[str]:
    """Names that a module has at its top level; `*` when it imports all of another."""
    names: set[str] = set()
    for statement in top_level(tree.body):
        names |= {one.name for one in imported_names(statement, "")} | set(bound_names(statement))
        names |= {statement.name} if isinstance(statement, Definition) else set()
    return names
