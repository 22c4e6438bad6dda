"""A tested claim as a pytest file of the user's own project.

What the claim says, and what its check does, came from outside: they stand in the file as string
literals that were read back and compared, never as code.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reenact.claims.check import Check, Relation
from reenact.claims.verdict import ClaimVerdict
from reenact.plain import plain_line

LONGEST_NAME = 60
WIDTH = 88
TOLERANCE = 1e-4
WORDED = (Relation.SHAPE, Relation.DTYPE, Relation.DEVICE)
"""Relations that take words, not a number."""
_TOLERANT = (Relation.DIFFERS, Relation.SAME)


@dataclass(frozen=True, slots=True)
class KeptClaim:
    """A tested claim, and where its program is."""

    verdict: ClaimVerdict
    run: str
    """Id of the run that tested it."""
    words: Sequence[str]
    """The command line of the program, as it is typed in `folder`."""
    folder: str
    """The folder that the program is started in, from the folder of the test."""
    data: Sequence[str] = ()
    """Files that the program reads and a copy of its folder does not have."""

    @property
    def text(self) -> str:
        """The whole file."""
        return "\n".join([*self._head(), *self._test()]) + "\n"

    def _head(self) -> Iterator[str]:
        claim = self.verdict.claim
        says = plain_line(claim.says)
        facts = (
            f"{self.verdict.status.value.capitalize()} by `reenact test-hypothesis` (run {self.run}). "
            f"The test fails where the property does not hold."
        )
        yield docstring("\n\n".join(textwrap.fill(part, WIDTH) for part in (says, facts)) + "\n")
        yield "\nfrom pathlib import Path\n\nimport reenact\n"
        below = "" if self.folder in ("", ".") else f" / {literal(self.folder)}"
        yield f"FOLDER = Path(__file__).parent{below}"
        yield f"PROGRAM = [{', '.join(map(literal, self.words))}]"
        script = claim.script.strip("\n") + "\n"
        yield f"CHECK = {literal(script, below=True)}"
        if self.data:
            yield "DATA = ["
            yield from (f"    {literal(one)}," for one in self.data)
            yield "]"

    def _test(self) -> Iterator[str]:
        claim = self.verdict.claim
        yield "\n"
        yield f"def {name_of(claim.says)}() -> None:"
        yield f"    {docstring(plain_line(claim.says))}"
        yield "    found = reenact.holds("
        yield "        PROGRAM,"
        yield "        CHECK,"
        yield f"        shows={literal(shows(claim.check))},"
        if claim.check.relation in _TOLERANT and claim.check.tolerance != TOLERANCE:
            yield f"        tolerance={claim.check.tolerance!r},"
        yield "        folder=FOLDER,"
        if self.data:
            yield "        data=DATA,"
        yield "    )"
        yield "    assert found.holds, found.saw"


def shows(check: Check) -> str:
    """A check as one writes it: what `Check.read` takes."""
    name = check.relation.value
    if check.relation in WORDED:
        return f"{name} {check.text}".strip()
    return name if check.number is None else f"{name} {check.number!r}"


def name_of(says: str) -> str:
    """The name of a test function."""
    name = re.sub(r"[^a-z0-9]+", "_", says.lower()).strip("_")
    if len(name) > LONGEST_NAME:
        name = name[:LONGEST_NAME].rpartition("_")[0] or name[:LONGEST_NAME]
    return f"test_{name or 'the_claim'}"


def literal(text: str, *, below: bool = False) -> str:
    """A text as Python writes it, over several lines where it has several, so that a reader can
    read it. `below`: its first line is a line of its own.
    """
    if _is_visible(text):
        for written in _written(text, "\\\n" if below else ""):
            if _says(written, text):
                return written
    return repr(text)


def docstring(text: str) -> str:
    """The same between three quotes."""
    written = f'"""{text}"""'
    is_plain = _is_visible(text) and "\\" not in text
    return written if is_plain and _says(written, text) else literal(text)


def _written(text: str, start: str) -> Iterator[str]:
    if "\n" not in text:
        # With a backslash in it, `repr` writes it best.
        if "\\" not in text:
            yield f'"{text}"'
        return
    for quotes in ('"""', "'''"):
        if "\\" not in text:
            yield f"{quotes}{start}{text}{quotes}"
        else:
            yield f"r{quotes}{text}{quotes}"


def _is_visible(text: str) -> bool:
    """Whether nothing in it would be shown otherwise than it is."""
    return all(one.isprintable() or one in "\n\t" for one in text)


def _says(written: str, text: str) -> bool:
    try:
        return bool(ast.literal_eval(written) == text)
    except (SyntaxError, ValueError):
        return False
