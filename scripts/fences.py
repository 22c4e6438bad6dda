"""The blocks of the documentation, and the one rule of how each is proven.

```console run [exit=1]   every command is run in a copy of examples/; the lines below it must be printed
```console needs=WHY      parsed by the real command line, not run: see NEEDS; the reason is checked too
```python run             the blocks of a page are executed from top to bottom
```python needs=WHY       compiled; what it takes from reenact must be there and take these arguments
```ipython                cells, run up to the first name of the reader
```json ```yaml ```toml   parsed, and held against what they configure
```diff of=FILE           must apply to that file
```text of=FILE           what was printed: lines quoted of a program, figures of a page, stand there
```text tree=FOLDER       what stands below it must be there
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
NEEDS = {
    "model": "a language model: a key, or somebody who answers",
    "network": "another machine",
    "minutes": "trainings that take longer than a test may",
    "terminal": "somebody before it: it stays until it is stopped",
    "yours": "files or names of the reader",
}
"""Why a block is not run."""
DATA = ("json", "yaml", "toml")
BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
INLINE = re.compile(r"(?<!`)`((?:reenact|python -m benchmarks)\s[^`]+)`(?!`)")
GENERATED = ("docs/faults/",)
"""Pages that the code makes of itself; the examples on them are executed by tests/faults."""
PRINTED = "docs/benchmarks/"


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    page: str
    """From the root of the repository."""
    line: int
    info: tuple[str, ...]
    """The words behind the fence."""
    body: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def language(self) -> str:
        return self.info[0] if self.info else ""

    @property
    def is_run(self) -> bool:
        return "run" in self.info

    def given(self, name: str) -> tuple[str, ...]:
        """The values of `name=one,two`; none when it is not there."""
        for word in self.info[1:]:
            key, _, value = word.partition("=")
            if key == name:
                return tuple(value.split(","))
        return ()

    @property
    def kind(self) -> str:
        """How it is proven: its language and the mark that says how. Empty when the fence does
        not say.
        """
        marks = {word.partition("=")[0] for word in self.info[1:]}
        for language, kind, allowed in _KINDS:
            if self.language == language and kind in (marks or {""}) and marks <= allowed:
                return f"{language} {kind}".strip()
        return ""


_KINDS = (
    ("console", "run", {"run", "exit"}),
    ("console", "needs", {"needs"}),
    ("python", "run", {"run"}),
    ("python", "needs", {"needs"}),
    ("ipython", "", set[str]()),
    *((language, "", set[str]()) for language in DATA),
    ("diff", "of", {"of"}),
    ("text", "of", {"of"}),
    ("text", "tree", {"tree"}),
)


def pages() -> list[Path]:
    """Every page that somebody wrote."""
    found = [ROOT / "README.md", ROOT / "AGENTS.md"]
    for folder in ("docs", "skills", "examples"):
        found += sorted((ROOT / folder).rglob("*.md"))
    return [path for path in found if not named(path).startswith(GENERATED)]


def named(path: Path) -> str:
    """A page as it is called here."""
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    text = path.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(named(path), line, tuple(found["info"].split()), found["body"])


def written() -> list[Path]:
    """The pages whose blocks somebody wrote; those of a benchmark are what its command printed."""
    return [path for path in pages() if not named(path).startswith(PRINTED)]


def all_blocks() -> list[Block]:
    """Every block that somebody wrote."""
    return [block for path in written() for block in blocks(path)]


def inline(path: Path) -> list[str]:
    """Commands within sentences."""
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    return [" ".join(found.split()) for found in INLINE.findall(text)]


def words(command: str) -> list[str]:
    """The words of a command, its comment left out; a # within a word is none, as in a shell."""
    return shlex.split(re.sub(r"\s#\s.*", "", command))


def without_marks(text: str) -> str:
    """The page for a reader: the fences name their language alone."""
    return BLOCK.sub(
        lambda found: found[0].replace(found["info"], found["info"].partition(" ")[0], 1),
        text,
    )
