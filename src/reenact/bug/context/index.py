"""Chunks and words of a whole repository with the text after them: what every step of the search
reads.

Identifiers and prose become words that both sides of a search share; a report's words are looked
for in the forms in which code has them: `resuming` -> `resume`, `learning rate` -> `lr`. Tokens are
estimated.
"""

import ast
import gc
import keyword
import math
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from reenact.bug.codebase import Class, Codebase, Function
from reenact.bug.context.chunk import Chunk, cut
from reenact.bug.project_files import ProjectFiles
from reenact.codegen.syntax import Definition
from reenact.errors import InputError
from reenact.types import Progress, Tell, tell_nobody

MOST_CHARACTERS = 20_000
"""So much of one chunk is searched: longer ones are tables."""
SIGNS = (
    *(
        "sess.run",
        "session.run",
        ".fit(",
        "fit_generator",
        "train_on_batch",
        "apply_gradients",
        ".minimize(",
    ),
    *(
        "GradientTape",
        "tape.gradient",
        ".backward(",
        "zero_grad",
        "loss.item",
        "training_step",
    ),
)
"""Words without which a file holds no training loop; looked for before it is parsed again."""
_SIGN = re.compile("|".join(re.escape(sign) for sign in SIGNS))
_LOADER = re.compile(r"loader\b|dataset\b|batches\b", re.IGNORECASE)
_MOVED = re.compile(r"\.(?:to|cuda)\(")


class Postings:
    """For each word the numbers of the chunks that hold it, and how often they do."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[array[int], array[int]]] = {}
        self._lengths = array("i")

    def add(self, text: str) -> None:
        """The words of the next chunk."""
        counted = count_words(text)
        number = len(self._lengths)
        self._lengths.append(sum(counted.values()))
        for word, times in counted.items():
            chunks, counts = self._found.setdefault(
                word,
                (array("i"), array("i")),
            )
            chunks.append(number)
            counts.append(times)

    @property
    def words(self) -> Collection[str]:
        return self._found.keys()

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """Words of each chunk, every one counted."""
        return np.array(self._lengths, dtype=np.int32)

    def of(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Chunks that hold a word, and how often."""
        chunks, counts = self._found.get(word, ((), ()))
        return np.array(chunks, dtype=np.int32), np.array(counts, dtype=np.int32)

    def spread(self, word: str) -> int:
        """How many chunks hold a word."""
        return len(self._found.get(word, ((), ()))[0])


@dataclass
class CodeIndex:
    """A repository made searchable. Nodes are found when they are asked for and then kept."""

    files: ProjectFiles
    signs: frozenset[PurePosixPath]
    """Files in which a word of training is."""
    chunks: tuple[Chunk, ...]
    postings: Postings
    _nodes: dict[PurePosixPath, list[ast.AST]] = field(default_factory=dict, repr=False)
    _docstrings: dict[PurePosixPath, frozenset[int]] = field(default_factory=dict, repr=False)

    @cached_property
    def project(self) -> Codebase:
        """Names through imports and re-exports."""
        return Codebase(self.files)

    @cached_property
    def by_file(self) -> Mapping[PurePosixPath, list[Chunk]]:
        """Chunks of each file, in order."""
        return {
            path: list(own)
            for path, own in groupby(
                self.chunks,
                key=lambda chunk: chunk.path,
            )
        }

    @cached_property
    def by_name(self) -> Mapping[str, list[Chunk]]:
        """Chunks by the last part of each name that they define."""
        found: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            for name in {name.rpartition(".")[2] for name in chunk.defines}:
                found.setdefault(name, []).append(chunk)
        return found

    def at(self, path: PurePosixPath, line: int) -> Chunk | None:
        """The chunk that holds a line of a file."""
        return next(
            (one for one in self.by_file.get(path, ()) if line in one),
            None,
        )

    def place(self, found: Class | Function) -> Chunk | None:
        """The chunk of a definition."""
        path = self.files.modules.get(found.module)
        if path is not None:
            return self.at(path, found.node.lineno)
        return None

    def holding(self, word: str) -> list[Chunk]:
        """Chunks that hold a word, in order."""
        return [self.chunks[number] for number in self.postings.of(word)[0].tolist()]

    def nodes(self, chunk: Chunk) -> list[ast.AST]:
        """Every node of a chunk."""
        path = chunk.path
        if path not in self._nodes:
            self._nodes[path] = [one for one in self.files.nodes(path) if hasattr(one, "lineno")]
        return [one for one in self._nodes[path] if one.lineno in chunk]  # type: ignore[attr-defined]

    def docstrings(self, chunk: Chunk) -> list[int]:
        """Lines of long docstrings in a chunk, but the first ones of each."""
        path = chunk.path
        if path not in self._docstrings:
            first = (one.body[0] for one in self.files.nodes(path) if isinstance(one, Definition))
            texts = (one for one in first if isinstance(one, ast.Expr))
            texts = (one for one in texts if isinstance(one.value, ast.Constant))
            lines = (range(one.lineno + 3, (one.end_lineno or one.lineno) + 1) for one in texts)
            self._docstrings[path] = frozenset(line for listed in lines for line in listed)
        return [line for line in self._docstrings[path] if line in chunk]


def build_index(files: ProjectFiles, tell: Tell = tell_nobody) -> CodeIndex:
    """Cut and count every file."""
    if not files.texts:
        why = f"No Python file below {files.folder} can be read."
        raise InputError(why, next_step="Check the repository.")
    chunks: list[Chunk] = []
    postings = Postings()
    # Syntax trees are many small objects without cycles: looking for cycles takes a fifth of the
    # time.
    restore = gc.enable if gc.isenabled() else gc.disable
    gc.disable()
    try:
        for number, (path, text) in enumerate(files.texts.items()):
            for chunk in cut(path, text, len(chunks)):
                # Names of file and class are words of every method: `forward` alone says nothing.
                postings.add("\n".join([str(path), chunk.name, chunk.text])[:MOST_CHARACTERS])
                chunks.append(chunk)
            if number % 100 == 0:
                tell(Progress("index", number, len(files.texts)))
    finally:
        restore()
    texts = files.texts.items()
    loaders = {path for path, text in texts if _LOADER.search(text) and _MOVED.search(text)}
    signs = frozenset(path for path, text in texts if path in loaders or _SIGN.search(text))
    return CodeIndex(files, signs, tuple(chunks), postings)


CHARACTERS_A_TOKEN = 3.2
"""Source code of many projects lies between 3.2 and 3.8 for the usual tokenisers; the estimate
is careful.
"""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_ENGLISH = (
    "a about after all also am an and any are as at be because been before but by can cannot "
    "could did do does doing done down each else even ever every few for from get gets got had "
    "has have he her here hi hello his how i if in into is it its just like made make makes me "
    "more most my no not now of off on once one only or other our out over own same see seems "
    "she should so some still such than thanks that the their them then there these they this "
    "those through to too two under until up use used using very want was we were what when "
    "where which while who why will with would you your bug issue report problem please expected "
    "actual behavior behaviour description reproduce version environment following code example "
    "error traceback recent call last file line observed title given think lot give instead "
    "become ever never seem look try tried find found notice noticed happen happened work "
    "correctly incorrect incorrectly wrong always sometimes however therefore maybe probably "
    "actually simply right thank help question info information available system between differ "
    "different lead again left expect back already really quite"
)
_CODE = (
    "self cls args kwargs none true false str int float bool dict list tuple set object typing "
    "optional"
)
STOP_WORDS = frozenset(
    [
        *_ENGLISH.split(),
        *_CODE.split(),
        *(word.lower() for word in keyword.kwlist),
    ]
)


def estimate_tokens(text: str) -> int:
    """How many tokens of a usual model a text has, rather too many than too few."""
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


def count_words(text: str) -> Counter[str]:
    """Words of a text: every identifier whole and in its parts, plurals as singulars."""
    found: Counter[str] = Counter()
    for identifier, times in Counter(_IDENTIFIER.findall(text)).items():
        for word in words_of(identifier):
            found[word] += times
    return found


@lru_cache(maxsize=200_000)
def words_of(identifier: str) -> tuple[str, ...]:
    """`LayerNorm_2d` -> layernorm_2d, layer, norm, 2. Words that say nothing are left out."""
    parts = [part.lower() for part in _PART.findall(identifier)]
    candidates = (
        [
            identifier.strip("_").lower(),
            *parts,
        ]
        if len(parts) > 1
        else parts
    )
    stems = dict.fromkeys(_stem(word) for word in candidates if len(word) > 1)
    return tuple(word for word in stems if word not in _STOPPED)


def _stem(word: str) -> str:
    """Plurals and -ing forms only: code is written in few forms, and more would join strangers."""
    if word.endswith("ing") and len(word) > 6:
        return word[:-3]
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_STOPPED = STOP_WORDS | {_stem(word) for word in STOP_WORDS}


WEIGHT = 0.5
"""Of a form that the reporter did not write."""
SHORTEST = 4
_ENDINGS = (
    "e",
    "d",
    "ed",
    "r",
    "er",
    "or",
    "ion",
    "ation",
    "ment",
    "ly",
    "y",
    "able",
)
_SHORT_FORMS = (
    "acc=accuracy attn=attention bn=batch+norm ckpt=checkpoint clf=classifier conv=convolution "
    "cfg=config emb=embedd eval=evaluation fp16=half+precision grad=gradient init=initial "
    "lr=learn+rate opt=optimizer optim=optimizer param=parameter pos=position pred=prediction "
    "prob=probability sched=scheduler seq=sequence std=deviation tok=token val=validation "
    "var=variance vocab=vocabulary"
)
_PAIRS = (pair.split("=") for pair in _SHORT_FORMS.split())
SHORT_FORMS: Mapping[str, Sequence[str]] = {short: long.split("+") for short, long in _PAIRS}
"""Abbreviations of the field, and the words that must all be there for one to be meant."""


def expanded(
    words: Mapping[str, float],
    known: Collection[str],
) -> Mapping[str, float]:
    """The words with those forms of them that the project uses."""
    found = dict(words)
    for word, weight in words.items():
        for form in _forms(word):
            if form in known and form not in words:
                found[form] = max(found.get(form, 0.0), WEIGHT * weight)
    for short, long in SHORT_FORMS.items():
        if all(word in found for word in long) and short in known:
            found.setdefault(
                short,
                WEIGHT * min(found[word] for word in long),
            )
        elif short in words:
            found |= {
                word: WEIGHT * words[short] for word in long if word in known and word not in found
            }
    return found


def _forms(word: str) -> Iterator[str]:
    if len(word) < SHORTEST or not word.isalpha():
        return
    yield from (word + ending for ending in _ENDINGS)
    yield from (
        word.removesuffix(ending) for ending in _ENDINGS if len(word) - len(ending) >= SHORTEST
    )
    if word[-1] == word[-2]:
        yield word[:-1]
