"""What a report points at: frames of tracebacks, names in code and prose, messages, files,
arguments.

The report is data: it is searched by patterns, its code is parsed where it parses, and never run.
Frames are found again in this checkout, though they come from another machine.
"""

import ast
import builtins
import functools
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from reenact.bug.context.chunk import Chunk
from reenact.bug.context.index import CodeIndex, count_words
from reenact.codegen.syntax import imported_names, parsed
from reenact.program.syntax.source import shared_end

_DOTTED_CALL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
_IMPORT = re.compile(r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+[^\n(]+)$", re.MULTILINE)
_USED = re.compile(
    r"\b([A-Za-z_]\w*)[ \t]*\(|\b(\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]\w*|\w*[a-z0-9]_\w+)\b(?![ "
    r"\t]*=[^=])"
)


def used(text: str) -> Iterator[str]:
    """What code calls, and names that were made up (`LayerNorm`, `rotary_emb`); not plain
    variables.
    """
    return (match[1] or match[2] for match in _USED.finditer(text))


def quoted(text: str) -> list[str]:
    """Names in a few words of code; the `a` of `a.b` is mostly a variable and left out."""
    if _DOTTED_CALL.fullmatch(text):
        first, *rest = text.rstrip("()").split(".")
        if not rest or first[:1].isupper():
            return [first, *rest]
        return rest
    return list(used(text))


def defined(text: str) -> Iterator[str]:
    """Names that the code makes itself: a `forward` of the reporter is not one of the project's."""
    for node in ast.walk(parsed(_unprompted(text)) or ast.Module([], [])):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def imports(text: str) -> Iterator[tuple[str, str]]:
    """Names that the code imports and where from, whether all of it parses or not."""
    text = _unprompted(text)
    whole = parsed(text)
    lines = []
    if whole is None:
        lines = _IMPORT.findall(text)
    trees = [
        whole,
        *(parsed(line.strip()) for line in lines),
    ]
    for node in (node for one in trees if one is not None for node in ast.walk(one)):
        yield from ((one.name, one.target) for one in imported_names(node))


def _unprompted(text: str) -> str:
    """Without the prompts of an interpreter, and without the indent of a quotation."""
    return textwrap.dedent(
        re.sub(
            r"^(?:>>> ?|\.\.\. ?)",
            "",
            text,
            flags=re.MULTILINE,
        )
    )


TITLE_WEIGHT = 2.0
"""Who writes a title chooses every word."""
MOST_LINES = 4000
LONGEST_LINE = 1000
"""Beyond these a report is a log; the bounds also keep the patterns below from growing slow on
purpose.
"""
MOST_NAMES = 300
MOST_FRAMES = 60
"""Innermost ones; an endless recursion prints more."""
LIBRARIES = (
    "torch",
    "nn",
    "F",
    "np",
    "numpy",
    "tf",
    "tensorflow",
    "pd",
    "plt",
    "jax",
    "jnp",
)
"""Names by which reports call libraries without importing them."""
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)|~~~[^\n]*\n(.*?)(?:~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`([^`\n]{1,200})`")
_INDENTED = re.compile(r"(?:^(?: {4}|\t|>>> ?|\.\.\. ?).*\n?)+", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOISE = re.compile(
    r"^[ \t]*[-*]?[ \t]*\[[ xX]\].*$"  # check boxes of a form
    r"|^[ \t]*(?:[-*][ \t]*)?[\w.+-]+[ \t]*==[ \t]*[\w.+-]+[ \t]*$"  # installed packages
    r"|^[ \t]*(?:[-*][ \t]*)?[\w-]+[ \t]+v?\d+(?:\.\d+)+\S*(?:[ \t]+\S+)?[ \t]*$"
    r"|^[ \t]*[-*]?[ "
    r"\t]*\**(?:OS|Platform|Python|CUDA|GPU|cuDNN|Driver|CPU|Architecture)\b[^:\n]{0,30}:.*$"
    r"|^[ \t]*\d+%\|.*$|^.*\[\d\d:\d\d<.*$",  # progress bars
    re.MULTILINE | re.IGNORECASE,
)
_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]+\.py)", line (?P<line>\d+)(?:, in (?P<name>[\w<>.]+))?'),
    re.compile(r"File (?P<path>[^\s\"]+\.py):(?P<line>\d+), in (?P<name>[\w.]+)"),
    re.compile(
        r"^(?P<path>[^\s\"]+\.py) in (?P<name>\w+)\(.*\)$(?:.*\n){0,12}?-+> *(?P<line>\d+)",
        re.MULTILINE,
    ),
    re.compile(r"(?<![\w./~-])(?P<path>[\w./~-]+\.py):(?P<line>\d+)(?P<name>)"),
)
_PERMALINK = re.compile(r"/blob/[^/\s]+/(?P<path>[\w./~-]+\.py)#L(?P<line>\d+)")
_ADDRESS = re.compile(r"\b(?:https?|ftp)://[^\s<>)\]}\"']+")
_LIBRARY = re.compile(r"(?:site|dist)-packages/|/lib/python3")
_PATH = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w-]+\.py)\b")
_MESSAGE = re.compile(
    r"^(?:E +)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit)): *(.+)$",
    re.MULTILINE,
)
_DOTTED = re.compile(r"(?<![\w./])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/])")
_PROSE_NAME = re.compile(
    r"\b(?:[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*|_*[a-z]\w*_\w+)\b|\b([A-Za-z_]\w*)\(\)?"
)
_KEYWORD = re.compile(r"[(,]\s*([a-z_]\w*)\s*=(?!=)")


@dataclass(frozen=True, slots=True)
class ReportedFrame:
    """A line that a traceback names."""

    path: PurePosixPath
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Clues:
    """What was found in one report."""

    words: Mapping[str, float]
    """Words to search by, with weights."""
    frames: tuple[ReportedFrame, ...]
    """Outermost first, as tracebacks are written."""
    names: Mapping[str, float]
    """Identifiers that may be names of the project: 1 in code or with dots, less in prose."""
    imported: Mapping[str, str]
    """Names of its code and the dotted names they were imported from."""
    dotted: tuple[str, ...]
    keywords: frozenset[str]
    """Arguments that its code passes by name."""
    messages: tuple[str, ...]
    paths: tuple[PurePosixPath, ...]

    @property
    def argument_names(self) -> frozenset[str]:
        """Names of the report that a parameter may have: those are shown however long the list
        is.
        """
        return self.keywords | self.names.keys()


def read_clues(report: str) -> Clues:
    """Read a report: title first, then the rest."""
    report = "\n".join(line[:LONGEST_LINE] for line in report.split("\n")[:MOST_LINES])
    report = _COMMENT.sub(" ", report)
    links = (
        ReportedFrame(
            _path(one["path"]),
            int(one["line"]),
            "",
        )
        for one in _PERMALINK.finditer(report)
    )
    # Who links to a line says where to look: it counts as the innermost frame, the first such line
    # last.
    linked = reversed(list(dict.fromkeys(links))[:MOST_FRAMES])
    report = _ADDRESS.sub(" ", report)
    code = [found[1] or found[2] or "" for found in _FENCE.finditer(report)]
    prose = _FENCE.sub("\n", report)
    code += [found[0] for found in _INDENTED.finditer(prose)]
    inline = _INLINE.findall(prose)
    frames = (
        *tuple(_frames(report))[-MOST_FRAMES:],
        *linked,
    )
    imported = dict(pair for text in code for pair in imports(text))
    theirs = {*imported, *LIBRARIES}
    plainer = _FRAMES[0].sub(
        lambda found: " " if _is_library(found) else found[0],
        prose,
    )

    def own(found: re.Match[str]) -> str:
        if found[0].partition(".")[0] in theirs:
            return ""
        return found[0]

    # Without names that start at an import, such as `torch.ones`: those are looked up, not guessed.
    ours = [[_DOTTED.sub(own, text) for text in texts] for texts in ([plainer], code, inline)]
    return Clues(
        words=_words(report),
        frames=frames,
        names=_names(*ours),
        imported=imported,
        dotted=tuple(dict.fromkeys(_DOTTED.findall(_without_frames(report))))[:MOST_NAMES],
        keywords=frozenset(name for text in (*code, *inline) for name in _KEYWORD.findall(text)),
        messages=tuple(dict.fromkeys(found[2].strip() for found in _MESSAGE.finditer(report))),
        paths=tuple(dict.fromkeys(PurePosixPath(name) for name in _PATH.findall(report))),
    )


def _words(report: str) -> Mapping[str, float]:
    quiet = _NOISE.sub("", _without_frames(report))
    # A restructured report begins with the heading of its title.
    title, _, rest = re.sub(r"\A\s*TITLE\s*\n", "", quiet).strip().partition("\n")
    weights: dict[str, float] = {}
    for text, weight in ((title, TITLE_WEIGHT), (rest, 1.0)):
        for word, times in count_words(text).items():
            # The fifth mention of a word says less than the first.
            weights[word] = weights.get(word, 0.0) + weight * (1 + min(times - 1, 4) / 4)
    return weights


def _without_frames(report: str) -> str:
    """With the file and the function of each frame alone: folders of somebody's machine are words
    of no one's project. Of a library's nothing is left, for its names are not the project's either.
    """

    def words(found: re.Match[str]) -> str:
        if _is_library(found):
            return "  "
        return f" {_path(found['path']).stem} {found['name'] or ''} "

    return functools.reduce(
        lambda text, pattern: pattern.sub(words, text),
        _FRAMES[:3],
        report,
    )


def _is_library(frame: re.Match[str]) -> bool:
    return _LIBRARY.search(frame["path"].replace("\\", "/")) is not None


def _frames(report: str) -> Iterator[ReportedFrame]:
    found = (match for pattern in _FRAMES for match in pattern.finditer(report))
    first: dict[tuple[str, int], re.Match[str]] = {}
    for match in sorted(found, key=lambda match: match.start()):
        first.setdefault(
            (match["path"], int(match["line"])),
            match,
        )
    for (path, line), match in first.items():
        if line < 10_000_000:
            yield ReportedFrame(
                _path(path),
                line,
                (match["name"] or "").rpartition(".")[2],
            )


def _path(text: str) -> PurePosixPath:
    return PurePosixPath(text.replace("\\", "/"))


OF_OTHERS = frozenset(
    {
        *dir(builtins),
        "arange",
        "backward",
        "cpu",
        "cuda",
        "detach",
        "device",
        "dtype",
        "eye",
        "float",
        "imshow",
        "item",
        "long",
        "numpy",
        "ones",
        "permute",
        "plt",
        "rand",
        "randint",
        "randn",
        "requires_grad",
        "reshape",
        "shape",
        "show",
        "size",
        "tensor",
        "unsqueeze",
        "zeros",
    }
)
"""Names that every script of the field has, of Python, of tensors and of plots: a report that says one
does not mean what the project has under the same name.
"""


def _names(
    prose: list[str],
    code: list[str],
    inline: list[str],
) -> Mapping[str, float]:
    own = {name for text in code for name in defined(text)}
    called = (name for text in code for name in used(_without_frames(text)))
    names = dict.fromkeys(
        (name for name in called if name not in own and name not in OF_OTHERS),
        0.6,
    )
    for match in (match for text in prose for match in _PROSE_NAME.finditer(text)):
        names[match[1] or match[0]] = 0.8
    spelled = (found for text in prose for found in _DOTTED.findall(text))
    names |= dict.fromkeys(
        # A name that stands alone is meant; one after a dot, or called, may be anybody's.
        (
            name
            for text in (*inline, *spelled)
            for name in quoted(text)
            if name == text or name not in OF_OTHERS
        ),
        1.0,
    )
    best = sorted(
        (name for name in names if len(name) > 2),
        key=lambda name: -names[name],
    )
    return {name: names[name] for name in best[:MOST_NAMES]}


def locate_frames(
    code: CodeIndex, frames: Sequence[ReportedFrame]
) -> dict[Chunk, tuple[int, ReportedFrame]]:
    """Chunks that frames lie in, with the distance from the innermost one of the project. Paths are
    matched by their ends. A line that has moved since is found by its function.
    """
    found: dict[Chunk, tuple[int, ReportedFrame]] = {}
    for frame in reversed(frames):
        file = _file_of(code, frame.path)
        chunks = []
        if file is not None:
            chunks = code.by_file.get(file, [])
        by_line = [one for one in chunks if frame.line in one]
        by_name = [one for one in code.by_name.get(frame.function, ()) if one.path == file]
        both = [one for one in by_line if one in by_name]
        # A function that is not there under this name may be nested, or renamed: the line decides.
        for chunk in (both or by_name or by_line)[:1]:
            found.setdefault(chunk, (len(found), frame))
    return found


def _file_of(code: CodeIndex, path: PurePosixPath) -> PurePosixPath | None:
    """The file whose path ends like this one; its name alone suffices when no other file bears
    it.
    """
    ends = [
        (
            shared_end(one, path),
            -len(one.parts),
            n,
        )
        for n, one in enumerate(code.files.paths)
    ]
    longest = max(ends, default=(0, 0, 0))
    # All that follows the folder of installed packages must agree, else the name. Of the standard
    # library no file of ours is ever meant.
    shared, _, place = longest
    if shared < max(1, _parts_that_must_agree(path)):
        return None
    rivals = sum(end[0] == shared for end in ends)
    certain = shared > 1 or (rivals == 1 and path.name != "__init__.py")
    return code.files.paths[place] if certain else None


def _parts_that_must_agree(path: PurePosixPath) -> int:
    """All after the folder of installed packages, all of the standard library, else the name."""
    for at, part in enumerate(path.parts):
        if part in ("site-packages", "dist-packages"):
            return len(path.parts) - at - 1
    if any(part.startswith("python3") for part in path.parts):
        return len(path.parts)
    return 1
