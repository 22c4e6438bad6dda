"""Which pieces a context holds, in the order in which the budget is spent.

surface       signatures of what the report mentions
pointed at    frames, imports and rare names of the report: in every context, most in the first
the module    the best chunks of the module that the context is about
training      one training loop, of the module if it has one
dependencies  definitions that the pieces so far rest on
example       one test or example that uses what the report points at
the rest      what matched well elsewhere, then further chunks of the module, while there is room

A module is a folder, as RepGen cuts a repository, ordered by its best snippet. Where a project lies in one
folder, as many small ones do, its files stand in for the missing modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reenact.bug.context.clues import Clues
from reenact.bug.context.code import Code
from reenact.bug.context.context import Context, Pack, Signature
from reenact.bug.context.definitions import dependencies, targets_of
from reenact.bug.context.rank import Ranked
from reenact.bug.context.surface import signatures
from reenact.bug.context.training import ENOUGH_WORDS, WORDS, Loop
from reenact.bug.context.words import count_words

NEAR = 0.5
"""Share of the very best score that a module's best snippet has when it may well be meant."""
FAR = 0.25
"""A module below this share is none of the report's."""


@dataclass(frozen=True, slots=True)
class Part:
    """One module with its ranked chunks, best first."""

    name: str
    ranked: tuple[Ranked, ...]

    @property
    def score(self) -> float:
        return self.ranked[0].score if self.ranked else 0.0


def partition(code: Code, ranked: tuple[Ranked, ...], most: int) -> tuple[Part, ...]:
    """At most `most` modules: near folders, near files, then farther ones; tests only where all is tests."""
    folders = _grouped(ranked, lambda one: str(code.path(one.chunk).parent))
    files = _grouped(ranked, lambda one: str(code.path(one.chunk)))
    whole = {part.ranked for part in folders}
    parts = [Part(_folder_name(part.name), part.ranked) for part in folders]
    parts += [part for part in files if part.ranked not in whole]
    best = folders[0].score
    ordered = sorted(parts, key=lambda part: -part.score)
    inside = [part for part in ordered if not _is_part_aside(code, part)] or ordered
    near = [part for part in inside if part.score >= NEAR * best]
    near.sort(key=lambda part: not part.name.endswith("/"))
    rest = [part for part in inside if FAR * best <= part.score < NEAR * best]
    return tuple([*near, *rest][:most] or inside[:1])


def _is_part_aside(code: Code, part: Part) -> bool:
    return code.index.is_aside(part.ranked[0].chunk)


def _folder_name(name: str) -> str:
    return "the top folder/" if name == "." else f"{name}/"


def _grouped(ranked: tuple[Ranked, ...], key: Callable[[Ranked], str]) -> list[Part]:
    groups: dict[str, list[Ranked]] = {}
    for one in ranked:
        groups.setdefault(key(one), []).append(one)
    return [Part(name, tuple(members)) for name, members in groups.items()]


SURFACE, POINTED_FIRST, POINTED, MODULE, LOOP, DEPENDENCIES = 0.2, 0.6, 0.35, 0.65, 0.2, 0.92
"""Shares of the budget up to which each step may fill the context (the loop: its own size)."""
LARGEST = 0.22
"""Share of the budget that one piece may take; a longer one is shortened around the lines that matter."""
SMALLER = 0.15
"""The same for a dependency and for the example."""
SMALL = 15
"""A definition of fewer lines is not shortened."""
MOST_FOCUS = 12
MOST_CALLED = 5
MOST_DEPENDENCIES = 12
WEAK = 0.3
"""A chunk below this share of the best score of its module only fills room that is left."""


@dataclass(frozen=True)
class Finds:
    """What the steps before found, for all contexts."""

    code: Code
    clues: Clues
    ranked: tuple[Ranked, ...]
    frames: Mapping[int, int]
    """Chunks of the traceback and the line in each."""
    loops: tuple[Loop, ...]
    surface: tuple[Signature, ...]
    follow: bool
    """Whether dependencies are added."""

    @property
    def about_training(self) -> bool:
        return sum(word in self.clues.words for word in WORDS) >= ENOUGH_WORDS

    def focus(self, number: int) -> tuple[int, ...]:
        """Lines of a chunk that matter, best first: of the traceback, or with rare words of the report."""
        chunk = self.code.chunk(number)
        frame = self.frames.get(number)
        if frame is not None and chunk.first <= frame <= chunk.last:
            return (frame,)
        if chunk.last - chunk.first < SMALL:
            return ()
        lines = self.code.lines(self.code.path(number))[chunk.first - 1 : chunk.last]
        scored = [(self._rarity(text), -line) for line, text in enumerate(lines, chunk.first)]
        return tuple(-line for score, line in sorted(scored, reverse=True)[:MOST_FOCUS] if score > 0)

    def _rarity(self, text: str) -> float:
        """How rare the words are that a line shares with the report."""
        postings = self.code.index.postings
        shared = [word for word in count_words(text) if word in self.clues.words]
        return sum(1 / (1 + len(postings.of(word)[0])) for word in shared)


def make_context(finds: Finds, part: Part, rank: int, budget: int) -> Context:
    """The context about one module."""
    pack = Pack(finds.code, budget)
    strong = [one for one in part.ranked if one.score >= WEAK * part.score]
    pack.add_surface((*finds.surface, *_surface(finds, strong)), SURFACE)
    pointed = [one for one in finds.ranked if one.pointed]
    _add_ranked(pack, finds, pointed, POINTED_FIRST if rank == 1 else POINTED)
    _add_ranked(pack, finds, strong, MODULE)
    loop = _loop(finds, part, pack.taken)
    if loop is not None:
        pack.add(loop.chunk, loop.why, largest=LOOP, focus=loop.lines)
    if finds.follow:
        _add_dependencies(pack, finds)
    example = _example(finds)
    if example is not None:
        pack.add(example, "an example of its use", largest=SMALLER)
    best = finds.ranked[0].score
    elsewhere = [one for one in finds.ranked if one.score >= WEAK * best and not _is_aside(finds, one)]
    _add_ranked(pack, finds, (*elsewhere, *part.ranked), 1.0)
    return pack.done(part.name, _why(finds, part, rank, pack.taken))


def _is_aside(finds: Finds, one: Ranked) -> bool:
    return finds.code.index.is_aside(one.chunk)


def _surface(finds: Finds, strong: Sequence[Ranked]) -> Iterator[Signature]:
    """How to call the best of the module: a report in plain words mentions nothing by name."""
    shown = {one.name for one in finds.surface}
    targets = [target for one in strong[:MOST_CALLED] for target in targets_of(finds.code, one.chunk)]
    found = signatures(finds.code, targets, {*finds.clues.names, *finds.clues.keywords})
    return (one for one in found if one.name not in shown)


def _add_ranked(pack: Pack, finds: Finds, ranked: Iterable[Ranked], until: float) -> None:
    for one in ranked:
        pack.add(one.chunk, one.why, largest=LARGEST, until=until, focus=finds.focus(one.chunk))


def _add_dependencies(pack: Pack, finds: Finds) -> None:
    """Definitions behind the pieces so far, then behind those; what the report's words like comes first."""
    scores = {one.chunk: one.score for one in finds.ranked}
    added = 0
    layer: Sequence[int] = sorted(pack.taken, key=lambda one: -scores.get(one, 0.0))
    for _ in range(2):
        wanted = list(_wanted(finds.code, layer, pack.taken))
        wanted.sort(key=lambda pair: -scores.get(pair[0], 0.0))
        layer = []
        for number, why in wanted:
            if added < MOST_DEPENDENCIES and _depended(pack, finds, number, why):
                added += 1
                layer = [*layer, number]


def _depended(pack: Pack, finds: Finds, number: int, why: str) -> bool:
    return pack.add(number, why, largest=SMALLER, until=DEPENDENCIES, focus=finds.focus(number))


def _wanted(code: Code, chunks: Sequence[int], taken: set[int]) -> Iterator[tuple[int, str]]:
    seen = set(taken)
    for number in chunks:
        for one in dependencies(code, number):
            if one.chunk not in seen:
                seen.add(one.chunk)
                name = code.chunk(number).name or str(code.path(number))
                yield one.chunk, f"{one.why} in {name}" if one.why.startswith("called") else one.why


def _loop(finds: Finds, part: Part, taken: set[int]) -> Loop | None:
    """The best loop of the module; one from elsewhere only for a report about training."""
    own = {finds.code.path(one.chunk) for one in part.ranked}
    others = [loop for loop in finds.loops if loop.chunk not in taken]
    inside = [loop for loop in others if finds.code.path(loop.chunk) in own]
    if inside and (finds.about_training or inside[0].score >= 0.5):
        return inside[0]
    return others[0] if others and finds.about_training else None


def _example(finds: Finds) -> int | None:
    """The test or example that uses most of what the report points at, rare names before common ones."""
    index = finds.code.index
    found: dict[int, float] = {}
    for one in finds.ranked:
        name = finds.code.chunk(one.chunk).name.rpartition(".")[2]
        if not one.pointed or index.is_aside(one.chunk) or not name or name.startswith("_"):
            continue
        chunks, _ = index.postings.of(name.lower())
        for number in chunks.tolist():
            if index.is_aside(number):
                found[number] = found.get(number, 0.0) + one.score / len(chunks)
    scores = {one.chunk: one.score for one in finds.ranked}
    short = [number for number in found if _is_short(finds.code, number)]
    return max(short, key=lambda one: (found[one] + scores.get(one, 0.0), -one), default=None)


def _is_short(code: Code, number: int) -> bool:
    chunk = code.chunk(number)
    return bool(chunk.name) and chunk.last - chunk.first < 60


def _why(finds: Finds, part: Part, rank: int, taken: set[int]) -> str:
    best = part.ranked[0]
    chunk = finds.code.chunk(best.chunk)
    place = f"{finds.code.path(best.chunk)}:{chunk.first}"
    name = chunk.name or "the top level"
    said = f"Module {rank} by relevance; its best match is {name} at {place} ({best.why})."
    if not any(loop.chunk in taken for loop in finds.loops):
        said += " No training loop is shown."
    left = finds.code.index.left_out
    if left:
        said += f" {len(left)} files were not read, for example {left[0]}."
    return said
