"""From a checkout and a report's text to at most five contexts, each within its budget: the whole way."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reenact.bug.context.clues import locate_frames, read_clues
from reenact.bug.context.code import Code
from reenact.bug.context.context import Context
from reenact.bug.context.definitions import exact_chunks, mentioned
from reenact.bug.context.index import Index, build_index, content_key, load_index, save_index
from reenact.bug.context.rank import Embedder, Ranked, Ranker
from reenact.bug.context.select import Finds, Part, make_context, partition
from reenact.bug.context.source import read_sources
from reenact.bug.context.surface import signatures
from reenact.bug.context.training import Loop, find_loops
from reenact.errors import InputError
from reenact.intake.repository import Checkout
from reenact.types import Progress, Tell, tell_nobody

BUDGET_TOKENS = 6000
MOST = 5
SAME = 0.85
"""A context that shares this part of its pieces with an earlier one says nothing new."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Steps that can be switched off, to measure what each is worth."""

    bm25: bool = True
    """The sparse half of the hybrid score; only has a meaning with an embedder."""
    rerank: bool = True
    """The second look: frames, names, messages, arguments, paths."""
    modules: bool = True
    """One context a module; else one for the whole repository."""
    loops: bool = True
    """Look for training loops."""
    loop_order: bool = True
    """Order the loops by relevance."""
    dependencies: bool = True
    """Add the definitions that the found code rests on."""


def build_contexts(
    checkout: Checkout,
    query: str,
    *,
    budget_tokens: int = BUDGET_TOKENS,
    most: int = MOST,
    index_folder: Path | None = None,
    embedder: Embedder | None = None,
    retrieval: Retrieval | None = None,
    tell: Tell = tell_nobody,
) -> tuple[Context, ...]:
    """Contexts for a report, best first. The same checkout and report always give the same ones."""
    steps = retrieval or Retrieval()
    code = Code(open_index(checkout.folder, index_folder, tell), checkout.folder)
    clues = read_clues(query)
    exact = exact_chunks(code, clues)
    ranker = Ranker(code, clues, exact)
    ranked = ranker.rank(query, embedder, sparse=steps.bm25, again=steps.rerank) or tuple(_anything(code))
    parts = partition(code, ranked, 2 * most) if steps.modules else (Part("the repository", ranked),)
    finds = Finds(
        code,
        clues,
        ranked,
        {number: frame.line for number, (_, frame) in locate_frames(code, clues.frames).items()},
        _loops(code, ranked, parts, order=steps.loop_order) if steps.loops else (),
        signatures(code, mentioned(code, clues, ranked), {*clues.names, *clues.keywords}),
        steps.dependencies,
    )
    made = (make_context(finds, part, rank, budget_tokens) for rank, part in enumerate(parts, 1))
    return tuple(itertools.islice(_different(made), most))


def open_index(folder: Path, kept: Path | None, tell: Tell = tell_nobody) -> Index:
    """The index of a checkout: the stored one of the same content, or a new one."""
    sources = read_sources(folder)
    if not sources.files:
        raise InputError(f"No Python file below {folder} can be read.", next_step="Check the repository.")
    key = content_key(sources)
    found = load_index(kept, key) if kept is not None else None
    if found is None:
        found = build_index(sources, lambda done: tell(Progress("index", done, len(sources.files))))
        if kept is not None:
            save_index(kept, key, found)
    return found


def _anything(code: Code) -> Iterator[Ranked]:
    """For a report that shares no word with the project: its definitions in order, without its tests."""
    for number, chunk in enumerate(code.index.chunks):
        if chunk.name and not chunk.name.startswith("_") and not code.index.is_aside(number):
            yield Ranked(number, 1.0 / (number + 1), "the report names nothing of the project", pointed=False)


def _loops(
    code: Code, ranked: tuple[Ranked, ...], parts: tuple[Part, ...], *, order: bool
) -> tuple[Loop, ...]:
    """Loops of the kept modules, then of the files that matched, then of any file."""
    relevance = {one.chunk: one.score for one in ranked}
    folders = {code.path(one.chunk).parent for part in parts for one in part.ranked}
    near = [file for file, path in enumerate(code.index.paths) if path.parent in folders]
    matched = [code.chunk(one.chunk).file for one in ranked]
    files = list(dict.fromkeys([*(file for file in matched if file in set(near)), *near, *matched]))
    found = find_loops(code, files, relevance, order=order)
    return found or find_loops(code, sorted(code.index.signs), relevance, order=order)


def _different(contexts: Iterable[Context]) -> Iterator[Context]:
    shown: list[set[str]] = []
    for context in contexts:
        pieces = {piece.text for piece in context.pieces}
        if not pieces or any(len(pieces & other) >= SAME * len(pieces) for other in shown):
            continue
        shown.append(pieces)
        yield context
