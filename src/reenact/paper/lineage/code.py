"""The repository of a cited paper: opened with nothing of it run, and the files that matter chosen
from it.

A model names paths; only paths of the real tree count. Files are taken whole, small ones, up to a
total.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.files import read_start
from reenact.intake.papers.paper import Paper
from reenact.intake.repository import Checkout, open_repository
from reenact.journal import Kind, Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.lineage.cited import Shelves, attempted, phrases
from reenact.paper.options import Goal

_LICENCE_FILE = re.compile(r"(?:un)?licen[cs]e|copying|copyright", re.IGNORECASE)
MOST_LICENCE_BYTES = 200_000
ENDINGS = (
    ".py",
    ".yaml",
    ".yml",
    ".toml",
    ".json",
    ".cfg",
    ".ini",
    ".sh",
    ".md",
    ".txt",
)
SKIPPED = frozenset(
    {
        "node_modules",
        "__pycache__",
        "venv",
        "env",
        "site-packages",
        "third_party",
        "docs",
    }
)
MOST_FILE = 24_000
"""Characters of a file that is taken; a longer one is not an example."""
MOST_TOTAL = 100_000
"""Characters of all files of all cited papers together: more than that no one reads next to the
paper.
"""
MOST_LISTED = 400
MOST_CHOSEN = 8


def licence_of(folder: Path) -> str:
    """The licence by its usual name, else the first line of its file; empty without a file."""
    files = (entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    for name in sorted(filter(_LICENCE_FILE.match, files)):
        text = read_start(folder / name, MOST_LICENCE_BYTES).decode(
            "utf-8",
            "replace",
        )
        if found := next(
            (one for one, words in phrases("licences").items() if words.search(text)),
            "",
        ):
            return found
        if first := next(
            (line.strip() for line in text.splitlines() if line.strip()),
            "",
        ):
            return first[:120]
    return ""


@dataclass(frozen=True, slots=True)
class CitedFile:
    """One file of a cited paper's repository."""

    path: str
    text: str
    why: str
    """What it shows."""


class FileChoice(BaseModel):
    """One file that helps."""

    path: str = Field(max_length=300, description="As it stands in the list.")
    why: str = Field(max_length=300, description="What it shows.")


class FileChoices(BaseModel):
    """The files that help, the most helpful first."""

    files: list[FileChoice] = Field(max_length=20)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a repository may be opened."""

    place: str
    """An address of the network, or a folder or bundle of the library."""
    named: str
    """The same for a reader, and for the journal, without a path of this machine."""
    content: str = ""
    """Mark of its content, where it lies on this machine."""


@dataclass(frozen=True)
class Tree:
    """A repository that was opened; without files when it was not."""

    named: str
    """How its address is called; empty when none was opened."""
    commit: str = ""
    licence: str = ""
    files: tuple[tuple[str, int], ...] = ()
    """Paths and sizes."""
    notes: tuple[str, ...] = ()


def open_tree(addresses: Sequence[Address], shelves: Shelves, run: Scope) -> Tree:
    """The first of these that can be opened."""
    notes: list[str] = []
    for number, address in enumerate(addresses):
        inputs = {
            "of": address.named,
            "content": address.content,
        }
        read = partial(_tree, address, shelves)
        step = partial(
            run.step,
            "repository",
            read,
            kind=Kind.NOTE,
            returns=Tree,
            inputs=inputs,
        )
        opened = attempted(
            partial(step, attempt=number), "Its repository could not be opened", notes
        )
        if opened is not None:
            return replace(opened, notes=(*notes, *opened.notes))
    return Tree("", notes=tuple(notes) or ("No repository of it was found.",))


def file_texts(
    tree: Tree,
    address: Address,
    chosen: Sequence[FileChoice],
    space: int,
    shelves: Shelves,
    run: Scope,
) -> tuple[CitedFile, ...]:
    """The chosen files of the tree, whole, as far as they fit into so many characters."""
    about = {
        "of": tree.named,
        "content": address.content,
        "commit": tree.commit,
    }

    def read() -> list[CitedFile]:
        folder = _open(address.place, shelves, tree.commit).folder
        found: list[CitedFile] = []
        left = space
        for one in chosen:
            text = read_start(folder / one.path, left + 1).decode(
                "utf-8",
                "replace",
            )
            if len(text) <= left:
                found.append(CitedFile(one.path, text, one.why))
                left -= len(text)
        return found

    inputs = {
        **about,
        "chosen": [[one.path, one.why] for one in chosen],
        "space": space,
    }
    return tuple(
        run.step(
            "files",
            read,
            kind=Kind.NOTE,
            inputs=inputs,
            returns=list[CitedFile],
        )
    )


def _tree(address: Address, shelves: Shelves) -> Tree:
    """The repository with paths and sizes of files that may be taken: too large is not an example."""
    opened = _open(address.place, shelves)
    paths = source_files(
        opened.folder,
        lambda name: name.endswith(ENDINGS),
        SKIPPED,
    )
    sizes = {path.relative_to(opened.folder).as_posix(): path.stat().st_size for path in paths}
    found = [(path, size) for path, size in sizes.items() if 0 < size <= MOST_FILE]
    # Code before configuration, what lies near the top before what lies deep.
    found.sort(
        key=lambda one: (
            not one[0].endswith(".py"),
            one[0].count("/"),
            one[0],
        )
    )
    cut = (
        (f"Of its {len(found)} files {MOST_LISTED} were looked at.",)
        if len(found) > MOST_LISTED
        else ()
    )
    return Tree(
        address.named,
        commit=opened.commit,
        licence=licence_of(opened.folder),
        files=tuple(found[:MOST_LISTED]),
        notes=cut,
    )


def _open(place: str, shelves: Shelves, commit: str = "") -> Checkout:
    # A folder is read as it lies, whatever its history says.
    wanted = None if Path(place).is_dir() else commit or None
    return open_repository(place, wanted, into=shelves.checkouts, stop=shelves.stop)


def choose_files(
    tree: Tree,
    why: str,
    summary: str,
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
) -> tuple[tuple[FileChoice, ...], str]:
    """The files that help, and a note where none could be chosen."""
    if not tree.files:
        return (), ""
    listed = "\n".join(f"{path} ({size} bytes)" for path, size in tree.files)
    about = {
        "title": paper.title,
        "goal": goal.text(),
        "why": why,
        "summary": summary or "none",
    }
    template = load_prompt("reenact.paper.lineage", "prompts/files.md")
    prompt = template.fill(**about, files=listed, most=MOST_CHOSEN)
    known = {path for path, _ in tree.files}

    def check(answer: FileChoices) -> None:
        paths = [one.path for one in answer.files]
        if unknown := [path for path in paths if path not in known]:
            raise ValueError(
                f"There is no file {unknown[0]!r} in the list. Name files as they are in it."
            )
        if len(set(paths)) < len(paths) or len(paths) > MOST_CHOSEN:
            raise ValueError(f"Name each file once, and at most {MOST_CHOSEN}.")

    try:
        chosen = tuple(
            ask(
                run,
                model=model,
                name="choose-files",
                prompt=prompt,
                answer=FileChoices,
                check=check,
            ).files
        )
    except AnswerUnusable as error:
        return (), f"No file of its repository was chosen: {error.sentence}"
    return (
        chosen,
        "" if chosen else "None of the files of its repository helps, says the model.",
    )


def source_files(
    folder: Path, wanted: Callable[[str], bool], skipped: frozenset[str]
) -> Iterator[Path]:
    """Files whose name is wanted, folder by folder; links, hidden and skipped folders are left
    out.
    """
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in skipped
        )
        paths = (Path(here, name) for name in sorted(names) if wanted(name))
        for path in paths:
            if not path.is_symlink() and path.is_file():
                yield path
