"""Code that stands in a report: parsed where it parses, searched by patterns where not, never run."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from reenact.bug.context.chunk import parse

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
_IMPORT = re.compile(r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+[^\n(]+)$", re.MULTILINE)
_USED = re.compile(
    r"\b([A-Za-z_]\w*)[ \t]*\(|\b(\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]\w*|\w*[a-z0-9]_\w+)\b(?![ \t]*=[^=])"
)


def used(text: str) -> Iterator[str]:
    """What code calls, and names that were made up (`LayerNorm`, `rotary_emb`); not plain variables."""
    return (match[1] or match[2] for match in _USED.finditer(text))


def quoted(text: str) -> list[str]:
    """Names in a few words of code; the `a` of `a.b` is mostly a variable and left out."""
    if _DOTTED.fullmatch(text):
        first, *rest = text.rstrip("()").split(".")
        return [first, *rest] if not rest or first[:1].isupper() else rest
    return list(used(text))


def defined(text: str) -> Iterator[str]:
    """Names that the code makes itself: a `forward` of the reporter is none of the project's."""
    tree = parse(_unprompted(text))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def imports(text: str) -> Iterator[tuple[str, str]]:
    """Names that the code imports and where from, whether all of it parses or not."""
    text = _unprompted(text)
    tree = parse(text)
    lines = [] if tree is not None else _IMPORT.findall(text)
    trees = [tree, *(parse(line.strip()) for line in lines)]
    for node in (node for one in trees if one is not None for node in ast.walk(one)):
        if isinstance(node, ast.Import):
            for one in node.names:
                target = one.name if one.asname else one.name.partition(".")[0]
                yield one.asname or target, target
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                yield one.asname or one.name, f"{node.module}.{one.name}"


def _unprompted(text: str) -> str:
    """Without the prompts of an interpreter, and without the indent of a quotation."""
    return textwrap.dedent(re.sub(r"^(?:>>> ?|\.\.\. ?)", "", text, flags=re.MULTILINE))
