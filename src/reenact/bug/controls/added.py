"""The buggy revision with the names that only the fix adds: functions, classes, constants, methods,
files.

A script that asks for such a name takes this revision for the fixed one, although the bug is still
in it. Existing code is not touched; names that Python itself calls (`__len__`) are left out.
"""

import ast
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from reenact.bug.controls.relaid import all_files, copy_file
from reenact.bug.project_files import ProjectFiles, project_files
from reenact.codegen.syntax import Definition, targets_of


def with_added_names(
    buggy: ProjectFiles, fixed: ProjectFiles, folder: Path
) -> tuple[ProjectFiles, int]:
    """A copy of the buggy revision below a new folder, and how many names and files were added
    to it.
    """
    count = 0
    for path in all_files(buggy.folder):
        source = buggy.folder / path
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text, added = _joined(buggy, fixed, path)
        count += added
        if added:
            target.write_text(text, encoding="utf-8")
        elif source.is_symlink():
            target.symlink_to(source.readlink())
        else:
            copy_file(source, target)
    for path in fixed.paths:
        if path not in buggy.texts and not (folder / path).exists():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fixed.folder / path, folder / path)
            count += 1
    return project_files(folder), count


def _joined(
    buggy: ProjectFiles,
    fixed: ProjectFiles,
    path: PurePosixPath,
) -> tuple[str, int]:
    """The text of a buggy file with what the fixed one has besides, and how many names that are."""
    if path not in buggy.texts or path not in fixed.texts:
        return "", 0
    old = buggy.tree(path)
    new = fixed.tree(path)
    if old is None or new is None or buggy.texts[path] == fixed.texts[path]:
        return "", 0
    tree = ast.parse(buggy.texts[path])
    count = _add_to(tree.body, new.body)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", count


def _add_to(
    old: list[ast.stmt],
    new: Sequence[ast.stmt],
) -> int:
    """Put statements after the old ones that give names which those do not have, also within
    classes.
    """
    taken = {name for statement in old for name in _names(statement)}
    classes = {one.name: one for one in old if isinstance(one, ast.ClassDef)}
    count = 0
    for statement in new:
        if isinstance(statement, ast.ClassDef) and statement.name in classes:
            count += _add_to(classes[statement.name].body, statement.body)
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            aliases = [one for one in statement.names if _bound(one) not in taken]
            statement = _import_of(statement, aliases)
        names = [name for name in _names(statement) if not name.startswith("__")]
        if names and not taken.intersection(names):
            old.append(statement)
            count += len(names)
    return count


def _import_of(
    statement: ast.Import | ast.ImportFrom,
    aliases: list[ast.alias],
) -> ast.stmt:
    if isinstance(statement, ast.Import):
        return ast.Import(aliases)
    return ast.ImportFrom(statement.module, aliases, statement.level)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _names(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives to its module or class."""
    if isinstance(statement, Definition):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from map(_bound, statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        for target in targets_of(statement):
            if isinstance(target, ast.Name):
                yield target.id
