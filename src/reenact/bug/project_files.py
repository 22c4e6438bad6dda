"""The Python files of a checkout, read without trusting any of them, and which module lies where.

Covered: links (never followed, so nothing outside the tree is read and nothing twice), FIFOs and
devices, files too large to be written by hand, binary bytes, wrong or lying encodings, a tree
larger than agreed.
"""

import ast
import codecs
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from reenact.codegen.syntax import parsed
from reenact.files import read_bytes
from reenact.intake.repository import CHANGED, Checkout

MOST_FILE_BYTES = 1024 * 1024
MOST_BYTES = 512 * 1024 * 1024
MOST_FILES = 50_000
MOST_README = 1500
"""Characters of a README's examples that are shown."""
READMES = ("README.md", "README.rst", "README", "readme.md", "docs/README.md")
_EXAMPLE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_IMPORTED = re.compile(r"^[ \t>]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
SOURCE_FOLDERS = ("src", "lib", "python")
_SKIPPED = (
    "node_modules",
    "site-packages",
    "__pycache__",
    "__pypackages__",
    "venv",
    "env",
    "virtualenv",
)
_DEFINITION = re.compile(r"^[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]+(\w+)", re.MULTILINE)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class ProjectFiles:
    """The text of all Python files below a folder, by relative path."""

    folder: Path
    texts: Mapping[PurePosixPath, str]
    left_out: tuple[str, ...] = ()
    """What is not read, and why: `path: why`."""
    _trees: dict[PurePosixPath, ast.Module | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def paths(self) -> tuple[PurePosixPath, ...]:
        return tuple(self.texts)

    @cached_property
    def roots(self) -> tuple[PurePosixPath, ...]:
        """Folders that go on the import path, the outermost last so that `src` wins over the
        root.
        """
        tops = {path.parts[0] for path in self.texts if len(path.parts) > 1}
        nested = (PurePosixPath(name) for name in SOURCE_FOLDERS if name in tops)
        return (
            *(one for one in nested if one / "__init__.py" not in self.texts),
            PurePosixPath(),
        )

    @cached_property
    def modules(self) -> Mapping[str, PurePosixPath]:
        """Dotted name -> file, for every file that can be imported."""
        found: dict[str, PurePosixPath] = {}
        for root in reversed(self.roots):
            for path in self.texts:
                if path.is_relative_to(root):
                    parts = path.relative_to(root).with_suffix("").parts
                    is_package = parts[-1] == "__init__" and len(parts) > 1
                    found[".".join(parts[:-1] if is_package else parts)] = path
        return found

    @cached_property
    def module_names(self) -> Mapping[PurePosixPath, str]:
        """The dotted name by which each file is imported; the shorter one where there are two."""
        longest_first = sorted(
            self.modules.items(),
            key=lambda item: -len(item[0]),
        )
        return {path: name for name, path in longest_first}

    def package(self, path: PurePosixPath) -> str:
        """The package that relative imports of a file count from."""
        name = self.module_names.get(path, "")
        if path.name == "__init__.py":
            return name
        return name.rpartition(".")[0]

    @cached_property
    def packages(self) -> frozenset[str]:
        """First parts of dotted names: what an import of this project starts with."""
        return frozenset(name.partition(".")[0] for name in self.modules)

    @cached_property
    def definitions(self) -> Mapping[str, list[PurePosixPath]]:
        """Name of a function or class -> the files that define it."""
        found: dict[str, list[PurePosixPath]] = {}
        for path, text in self.texts.items():
            for name in set(_DEFINITION.findall(text)):
                found.setdefault(name, []).append(path)
        return found

    def tree(self, path: PurePosixPath) -> ast.Module | None:
        """The syntax tree of a file, kept; none when it is not valid Python."""
        if path not in self._trees:
            self._trees[path] = parsed(self.texts[path])
        return self._trees[path]

    def nodes(self, path: PurePosixPath) -> Iterator[ast.AST]:
        """Every node of a file, from the outside in."""
        tree = self.tree(path)
        if tree is not None:
            return ast.walk(tree)
        return iter(())

    @cached_property
    def digest(self) -> str:
        """One name for the content of all files."""
        hashed = hashlib.sha256()
        for path, text in self.texts.items():
            hashed.update(
                f"{path}\0{text}\0".encode(
                    "utf-8",
                    "replace",
                )
            )
        return hashed.hexdigest()[:40]


def project_files(folder: Path) -> ProjectFiles:
    """Every Python file below the folder that can be read as text, in a fixed order."""
    texts: dict[PurePosixPath, str] = {}
    left_out: list[str] = []
    size = 0
    for path in _python_files(folder):
        # A name as it can be shown: bytes that are not text become question marks.
        shown = "".join(letter if letter.isprintable() else "?" for letter in str(path))
        data = read_plain(folder / path) if shown == str(path) else "its name is not text"
        if isinstance(data, str):
            left_out.append(f"{shown}: {data}")
            continue
        size += len(data)
        if size > MOST_BYTES or len(texts) >= MOST_FILES:
            left_out.append(f"{shown}: too much before it, all files after it are left out too")
            break
        texts[path] = decode(data)
    return ProjectFiles(folder, texts, tuple(left_out))


def readme_examples(files: ProjectFiles) -> str:
    """Code of the README that imports the project; empty where there is none."""
    for name in READMES:
        data = read_plain(files.folder / name) if (files.folder / name).is_file() else ""
        shown: list[str] = []
        for kind, text in _EXAMPLE.findall(decode(data)) if isinstance(data, bytes) else ():
            uses = files.packages.intersection(_IMPORTED.findall(text))
            fits = sum(map(len, shown)) + len(text) <= MOST_README
            if uses and fits and kind in ("", "python", "py", "python3", "pycon"):
                shown.append(text.strip("\n"))
        if shown:
            return "\n\n".join(shown)
    return ""


def identity(checkout: Checkout, files: ProjectFiles) -> str:
    """What the journal knows a checkout by: its commit, or its content where there is no clean
    one.
    """
    if checkout.commit and not checkout.commit.endswith(CHANGED):
        return checkout.commit
    return files.digest


def read_plain(path: Path) -> bytes | str:
    """The bytes of a plain text file that is not a link, or why they are not read."""
    if path.is_symlink():
        return "a link"
    try:
        data = read_bytes(path, MOST_FILE_BYTES)
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if b"\0" not in data or data.startswith(_UTF16):
        return data
    return "binary"


def decode(data: bytes) -> str:
    """By byte order mark, by the cookie of its first lines, as UTF-8, and at last as Latin-1; with
    newlines alone between lines, so that lines count as Python counts them.
    """
    text = data.decode("latin-1")
    cookies = [
        found[1].decode() for line in data.split(b"\n", 2)[:2] if (found := _COOKIE.match(line))
    ]
    for encoding in (
        *(["utf-16"] if data.startswith(_UTF16) else []),
        *cookies,
        "utf-8",
    ):
        try:
            # Codecs that do not give text (`hex`, `zip`) are a LookupError here, and do not run.
            claimed = data.decode(encoding)
            claimed.encode("utf-8")
        except (ValueError, LookupError):
            continue
        text = claimed.removeprefix("\ufeff")
        break
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _python_files(folder: Path) -> Iterator[PurePosixPath]:
    for inner, folders, names in os.walk(folder):
        here = Path(inner)
        skipped = (
            r"\..*|.*\.egg-info|lib|lib\..*|bdist\..*"
            if here.name == "build"
            else r"\..*|.*\.egg-info"
        )
        plain = (
            one for one in sorted(folders) if one not in _SKIPPED and not re.fullmatch(skipped, one)
        )
        folders[:] = [name for name in plain if not (here / name / "pyvenv.cfg").exists()]
        below = PurePosixPath(here.relative_to(folder).as_posix())
        yield from (below / name for name in sorted(names) if name.endswith(".py"))
