"""repro.py: the plain script. It imports the project as it is installed, and ends in an assert or in
the call that raises: exit code 1 while the bug is there, 0 without it.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reenact.bug.classify import SeedRun
from reenact.bug.minimise import spans, without
from reenact.bug.repro.closing import Closing, closing_of
from reenact.bug.symptom import Symptom

SEEDING = {
    "numpy": "numpy.random.seed({seed})",
    "torch": "torch.manual_seed({seed})",
    "tensorflow": "tensorflow.random.set_seed({seed})",
}
LONGEST_TITLE = 100
LONGEST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Parts:
    """A script taken apart, so that it can be put together as a program or as a test."""

    future: str
    """Lines from `__future__`, which must be first."""
    imports: str
    """Import statements at its top, and those that its assert needs."""
    helpers: str
    """Functions that its assert needs."""
    body: str
    """The rest, with its closing assert."""


def parts_of(
    script: str,
    symptom: Symptom,
    shown: SeedRun | None,
    seeded: Sequence[str] = (),
    *,
    plainly: bool = True,
) -> Parts:
    """The parts of a script that shows a symptom. `shown` is a run in which it was seen, `seeded`
    the libraries whose chance a seed rules; both matter where chance has a part in it.
    """
    kinds: Mapping[str, str] = shown.observation.kinds if shown is not None else {}
    closing = Closing("")
    if symptom.closing is not None:
        closing = closing_of(symptom.closing, kinds, plainly=plainly)
    tree = ast.parse(script)
    future = [one for one in tree.body if _is_future(one)]
    imports = [one for one in tree.body if _is_import(one) and not _is_future(one)]
    lines = script.splitlines()
    body = without(script, spans([*future, *imports])).strip("\n")
    known = set(_imported(tree))
    libraries = [one for one in seeded if one in SEEDING]
    chance = ["random", *libraries] if seeded else []
    needed = [one for one in (*closing.imports, *chance) if one not in known]
    seed = shown.seed if shown is not None else 0
    seeding = [SEEDING[one].format(seed=seed) for one in libraries]
    if seeded:
        seeding.insert(0, f"random.seed({seed})")
    if closing.around:
        inside = "\n".join(filter(None, [closing.before, body]))
        body = f"{closing.around}\n{indented(inside, '    ')}"
        closing_before = ""
    else:
        closing_before = closing.before
    return Parts(
        future=_text(lines, future),
        imports="\n".join(
            filter(
                None, [*(f"import {one}" for one in dict.fromkeys(needed)), _text(lines, imports)]
            )
        ),
        helpers=closing.helpers.strip("\n"),
        body="\n".join(filter(None, [*seeding, closing_before, body, closing.asserts])),
    )


def script_text(parts: Parts, title: str, words: Sequence[str]) -> str:
    """The whole file: what it shows in a docstring, then the parts."""
    about = "\n".join(
        [_words(title, LONGEST_TITLE), "", *(_words(one, LONGEST_WORDS) for one in words)]
    )
    head = f'"""{about}\n"""'
    blocks = [head, parts.future, parts.imports, parts.helpers, parts.body]
    joined = "\n\n".join(one for one in blocks if one)
    if parts.helpers:
        joined = joined.replace(f"\n\n{parts.helpers}\n\n", f"\n\n\n{parts.helpers}\n\n\n")
    return f"{joined}\n"


def indented(text: str, by: str) -> str:
    """The text further to the right, but for lines that begin within a literal."""
    inside = _lines_in_literals(text)
    return "\n".join(
        line if number in inside or not line.strip() else f"{by}{line}"
        for number, line in enumerate(text.split("\n"), start=1)
    )


def _lines_in_literals(text: str) -> set[int]:
    nodes = ast.walk(ast.parse(text))
    texts = [node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
    return {
        line for one in texts for line in range(one.lineno + 1, (one.end_lineno or one.lineno) + 1)
    }


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _imported(tree: ast.Module) -> list[str]:
    """Modules that are bound by their own names at the top."""
    nodes = [one for one in tree.body if isinstance(one, ast.Import)]
    return [name.name for one in nodes for name in one.names if name.asname is None]


def _text(lines: Sequence[str], statements: Sequence[ast.stmt]) -> str:
    return "\n".join(lines[number - 1] for one in spans(statements) for number in one)


def _words(text: str, longest: int) -> str:
    """Words of a stranger as part of a docstring: they cannot end it."""
    plain = " ".join(text.split()).replace("\\", "/").replace('"', "'")
    return plain[:longest].rstrip()
