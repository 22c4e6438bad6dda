"""From a project and a report's text to at most five contexts, each within its budget: the whole
way.

A context is about one module: a folder, as RepGen cuts a repository, ordered by its best snippet.
Where a project lies in one folder, as many small ones do, its files stand in for the missing
modules. Its budget is spent in this order:

entry points  the names that the project exports
surface       signatures of what the report mentions
pointed at    frames, imports and rare names of the report: in every context, most in the first
the module    the best chunks of the module that the context is about
training      one training loop, of the module if it has one
dependencies  definitions that the pieces so far rest on
example       one test or example that uses what the report points at
the rest      what matched well elsewhere, then further chunks of the module, while there is space
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from reenact.bug.context import definitions
from reenact.bug.context.chunk import Chunk
from reenact.bug.context.clues import Clues, ReportedFrame, locate_frames, read_clues
from reenact.bug.context.context import Context, Pack, Signature
from reenact.bug.context.index import CodeIndex, count_words, estimate_tokens
from reenact.bug.context.rank import Embed, Ranked, Ranker
from reenact.bug.context.training import ENOUGH_WORDS, WORDS, Loop, find_loops
from reenact.bug.options import BugOptions

SAME = 0.85
"""A context that shares this part of its pieces with an earlier one says nothing new."""
NEAR = 0.5
"""Share of the very best score that a module's best snippet has when it may well be meant."""
FAR = 0.25
"""A module below this share is not one of the report's."""
SURFACE = 0.2
POINTED_FIRST = 0.6
POINTED = 0.35
WHOLE = 0.5
"""Share of the budget that the function may take that raises, or that is reported: it is shown whole
before anything else where the usual share would cut it.
"""
MOST_WHOLE = 2
MODULE = 0.65
LOOP = 0.2
DEPENDENCIES = 0.92
"""Shares of the budget up to which each step may fill the context (the loop: its own size)."""
LARGEST = 0.22
"""Share of the budget that one piece may take; a longer one is shortened around the lines that
matter.
"""
SMALLER = 0.15
"""The same for a dependency and for the example."""
SMALL = 15
"""A definition of fewer lines is not shortened."""
SHORT_EXAMPLE = 60
MOST_FOCUS = 12
MOST_CALLED = 5
MOST_DEPENDENCIES = 12
WEAK = 0.3
"""A chunk below this share of the best score of its module only fills space that is left."""


@dataclass(frozen=True, slots=True)
class Part:
    """One module with its ranked chunks, best first."""

    name: str
    ranked: tuple[Ranked, ...]

    @property
    def score(self) -> float:
        if self.ranked:
            return self.ranked[0].score
        return 0.0


@dataclass(frozen=True)
class Finds:
    """What the steps before found, for all contexts."""

    code: CodeIndex
    clues: Clues
    ranked: tuple[Ranked, ...]
    frames: Mapping[Chunk, tuple[int, ReportedFrame]]
    """Chunks of the traceback, how far each is from its inner end, and the line in it."""
    loops: tuple[Loop, ...]
    surface: tuple[Signature, ...]
    exports: tuple[str, ...]
    reported: tuple[Chunk, ...] = ()
    """The function that raises, and those that the report names by their whole path."""

    def signatures(self, ranked: Iterable[Ranked]) -> Iterator[Signature]:
        """How to call what these chunks define, but what the report mentions anyway."""
        targets = [
            target for one in ranked for target in definitions.targets_of(self.code, one.chunk)
        ]
        shown = {one.name for one in self.surface}
        found = definitions.signatures(self.code, targets, self.clues.argument_names)
        return (one for one in found if one.name not in shown)

    def focus(self, chunk: Chunk) -> tuple[int, ...]:
        """Lines of a chunk that matter, best first: of the traceback, or with rare words of the
        report.
        """
        if chunk in self.frames and self.frames[chunk][1].line in chunk:
            return (self.frames[chunk][1].line,)
        if chunk.last - chunk.first < SMALL:
            return ()
        scored: list[tuple[float, int]] = []
        for line, text in enumerate(
            chunk.text.split("\n"),
            chunk.first,
        ):
            shared = [word for word in count_words(text) if word in self.clues.words]
            scored.append(
                (
                    sum(1 / (1 + self.code.postings.spread(word)) for word in shared),
                    -line,
                )
            )
        return tuple(
            -line for score, line in sorted(scored, reverse=True)[:MOST_FOCUS] if score > 0
        )


def build_contexts(
    code: CodeIndex,
    query: str,
    options: BugOptions | None = None,
    *,
    embed: Embed | None = None,
) -> tuple[Context, ...]:
    """Contexts for a report, best first. The same files and report always give the same ones."""
    options = options or BugOptions()
    steps = options.parts
    clues = read_clues(query)
    frames = locate_frames(code, clues.frames)
    exact = definitions.exact_chunks(code, clues)
    ranker = Ranker(
        code,
        clues,
        frames,
        exact,
    )
    ranked = ranker.rank(query, embed, again=steps.rerank)
    if not ranked:
        # The report shares no word with the project: its definitions in order, without its tests.
        named = (
            one
            for one in code.chunks
            if one.name and not one.name.startswith("_") and not one.is_aside
        )
        why = "the report names nothing of the project"
        ranked = tuple(
            Ranked(
                one,
                1.0 / (one.number + 1),
                why,
                pointed=False,
            )
            for one in named
        )
    parts = (
        partition(ranked, 2 * options.contexts)
        if steps.modules
        else (Part("the repository", ranked),)
    )
    loops = _loops(code, ranked, parts, order=steps.loop_order) if steps.loops else ()
    exported, entry_points = definitions.exported(code)
    targets = (
        *definitions.mentioned(code, clues, ranked),
        *exported,
    )
    spoken = definitions.spoken_names(code, clues)
    surface = definitions.signatures(code, targets, clues.argument_names, spoken)
    finds = Finds(
        code,
        clues=clues,
        ranked=ranked,
        frames=frames,
        loops=loops,
        surface=surface,
        exports=entry_points,
        reported=_reported(frames, exact),
    )
    made: list[Context] = []
    places: set[Chunk] = set()
    for rank, part in enumerate(parts, 1):
        # What is best in it was looked at as part of another: it is not another place.
        if part.ranked[0].chunk in places:
            continue
        context = make_context(
            finds,
            part,
            rank,
            options.context_tokens,
            follow=steps.dependencies,
        )
        pieces = {piece.text for piece in context.pieces}
        shared = (sum(one.text in pieces for one in other.pieces) for other in made)
        if pieces and all(count < SAME * len(pieces) for count in shared):
            made.append(context)
            places.add(part.ranked[0].chunk)
        if len(made) == options.contexts:
            break
    return tuple(made)


def _reported(
    frames: Mapping[Chunk, tuple[int, ReportedFrame]], exact: Mapping[Chunk, str]
) -> tuple[Chunk, ...]:
    """The innermost function of the traceback, then what the report imports by name."""
    innermost = sorted(frames, key=lambda one: frames[one][0])[:1]
    functions = [one for one in exact if one.kind in ("function", "method")]
    return tuple(dict.fromkeys((*innermost, *functions)))[:MOST_WHOLE]


def _loops(
    code: CodeIndex, ranked: tuple[Ranked, ...], parts: tuple[Part, ...], *, order: bool
) -> tuple[Loop, ...]:
    """Loops of the kept modules, then of the files that matched, then of any file."""
    relevance = {one.chunk: one.score for one in ranked}
    folders = {one.chunk.path.parent for part in parts for one in part.ranked}
    near = [path for path in code.files.paths if path.parent in folders]
    matched = [one.chunk.path for one in ranked]
    files = dict.fromkeys(
        [
            *(path for path in matched if path.parent in folders),
            *near,
            *matched,
        ]
    )
    found = find_loops(code, files, relevance, order=order)
    return found or find_loops(
        code,
        code.files.paths,
        relevance,
        order=order,
    )


def partition(
    ranked: tuple[Ranked, ...],
    most: int,
) -> tuple[Part, ...]:
    """At most `most` modules: near folders, near files, then farther ones; tests only where all
    is tests.
    """
    folders = _grouped(
        ranked,
        lambda one: f"{one.chunk.path.parent}/",
    )
    files = _grouped(
        ranked,
        lambda one: str(one.chunk.path),
    )
    whole = {part.ranked for part in folders}
    parts = [
        *folders,
        *(part for part in files if part.ranked not in whole),
    ]
    best = folders[0].score
    ordered = sorted(parts, key=lambda part: -part.score)
    inside = [part for part in ordered if not part.ranked[0].chunk.is_aside] or ordered
    near = [part for part in inside if part.score >= NEAR * best]
    near.sort(key=lambda part: not part.name.endswith("/"))
    rest = [part for part in inside if FAR * best <= part.score < NEAR * best]
    return tuple([*near, *rest][:most] or inside[:1])


def _grouped(
    ranked: tuple[Ranked, ...],
    key: Callable[[Ranked], str],
) -> list[Part]:
    groups: dict[str, list[Ranked]] = {}
    for one in ranked:
        name = key(one)
        groups.setdefault("the top folder/" if name == "./" else name, []).append(one)
    return [Part(name, tuple(members)) for name, members in groups.items()]


def make_context(
    finds: Finds,
    part: Part,
    rank: int,
    budget: int,
    *,
    follow: bool,
) -> Context:
    """The context about one module; `follow`: with what its code rests on."""
    pack = Pack(finds.code, budget, finds.exports)
    strong = [one for one in part.ranked if one.score >= WEAK * part.score]
    # A report in plain words mentions nothing by name: the best of the module is shown how to be
    # called.
    pack.add_surface(
        (
            *finds.surface,
            *finds.signatures(strong[:MOST_CALLED]),
        ),
        SURFACE,
    )
    pointed = [one for one in finds.ranked if one.pointed]
    _add_whole(pack, finds)
    _add_ranked(
        pack,
        finds,
        pointed,
        POINTED_FIRST if rank == 1 else POINTED,
    )
    _add_ranked(pack, finds, strong, MODULE)
    loop = _loop(finds, part, pack.pieces)
    if loop is not None:
        pack.add(
            loop.chunk,
            loop.why,
            largest=LOOP,
            focus=loop.lines,
        )
    if follow:
        _add_dependencies(pack, finds)
    example = _example(finds)
    if example is not None:
        pack.add(example, "an example of its use", largest=SMALLER)
    best = finds.ranked[0].score
    elsewhere = [one for one in finds.ranked if one.score >= WEAK * best and not one.chunk.is_aside]
    _add_ranked(
        pack,
        finds,
        (*elsewhere, *part.ranked),
        1.0,
    )
    first = part.ranked[0]
    place = (
        f"{first.chunk.name or 'the top level'} at {first.chunk.path}:{first.chunk.first} "
        f"({first.why})"
    )
    why = f"Module {rank} by relevance; its best match is {place}."
    why += (
        ""
        if any(loop.chunk in pack.pieces for loop in finds.loops)
        else " No training loop is shown."
    )
    left = finds.code.files.left_out
    if left:
        why += f" {len(left)} files were not read, for example {left[0]}."
    return pack.done(part.name, why)


def _add_whole(pack: Pack, finds: Finds) -> None:
    """The function that raises or is reported, where its usual share would cut it."""
    why = {one.chunk: one.why for one in finds.ranked}
    for chunk in finds.reported:
        if estimate_tokens(chunk.text) > LARGEST * pack.budget:
            pack.add(
                chunk,
                why.get(chunk, "the report is about it"),
                largest=WHOLE,
                until=WHOLE + SURFACE,
                focus=finds.focus(chunk),
            )


def _add_ranked(
    pack: Pack,
    finds: Finds,
    ranked: Iterable[Ranked],
    until: float,
) -> None:
    for one in ranked:
        pack.add(
            one.chunk,
            one.why,
            largest=LARGEST,
            until=until,
            focus=finds.focus(one.chunk),
        )


def _add_dependencies(pack: Pack, finds: Finds) -> None:
    """Definitions after the pieces so far, then after those; what the report's words like
    comes first.
    """
    scores = {one.chunk: one.score for one in finds.ranked}
    added = 0
    layer = sorted(
        pack.pieces,
        key=lambda one: (
            -scores.get(one, 0.0),
            one.number,
        ),
    )
    for _ in range(2):
        wanted: dict[Chunk, str] = {}
        for chunk in layer:
            name = chunk.name or str(chunk.path)
            for other, why in definitions.dependencies(finds.code, chunk).items():
                if other not in pack.pieces:
                    wanted.setdefault(
                        other, f"{why} in {name}" if why.startswith("called") else why
                    )
        layer = []
        for chunk in sorted(
            wanted,
            key=lambda one: -scores.get(one, 0.0),
        ):
            if added < MOST_DEPENDENCIES and pack.add(
                chunk,
                wanted[chunk],
                largest=SMALLER,
                until=DEPENDENCIES,
                focus=finds.focus(chunk),
            ):
                added += 1
                layer.append(chunk)


def _loop(
    finds: Finds,
    part: Part,
    taken: Collection[Chunk],
) -> Loop | None:
    """The best loop of the module; one from elsewhere only for a report about training."""
    own = {one.chunk.path for one in part.ranked}
    others = [loop for loop in finds.loops if loop.chunk not in taken]
    inside = [loop for loop in others if loop.chunk.path in own]
    about_training = sum(word in finds.clues.words for word in WORDS) >= ENOUGH_WORDS
    if inside and (about_training or inside[0].score >= 0.5):
        return inside[0]
    return others[0] if others and about_training else None


def _example(finds: Finds) -> Chunk | None:
    """The short test or example that uses most of what the report points at, rare names
    counting more.
    """
    found: dict[Chunk, float] = {}
    for one in finds.ranked:
        name = one.chunk.name.rpartition(".")[2]
        if not one.pointed or one.chunk.is_aside or not name or name.startswith("_"):
            continue
        holding = finds.code.holding(name.lower())
        for chunk in holding:
            if chunk.is_aside and chunk.name and chunk.last - chunk.first < SHORT_EXAMPLE:
                found[chunk] = found.get(chunk, 0.0) + one.score / len(holding)
    scores = {one.chunk: one.score for one in finds.ranked}
    return max(
        found,
        key=lambda one: (
            found[one] + scores.get(one, 0.0),
            -one.number,
        ),
        default=None,
    )
