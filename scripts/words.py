"""Words that nobody would type into a search box, wherever they stand.

    python scripts/words.py            every one with its place; exit 0 none, 1 some
    python scripts/words.py --count    how often each word stands, and in which package most
    python scripts/words.py src/reenact/bug tests/bug      below these paths only

Looked at are the parts of identifiers, strings, comments and docstrings of Python files and the text of
Markdown files in src, tests, docs, examples, skills, benchmarks, README and CHANGELOG. Not looked at:
prompts, recordings, cases and papers (`UNTOUCHED`), because models and readers have seen their words, and
`ALLOWED` phrases, where a word has its plain meaning.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOOKED_AT = (
    "src",
    "tests",
    "docs",
    "examples",
    "skills",
    "benchmarks",
    "scripts",
    "README.md",
    "CHANGELOG.md",
)
UNTOUCHED = re.compile(
    r"/prompts/|/cases/|/corpus|/recordings?/|recording\.jsonl|tests/golden/|scripts/words\.py|scripts/kill_cases/"
    r"|benchmarks/trainings/|examples/paper/|examples/broken/torch_house_prices\.py"
)
WORDS = {
    "told": "reported, result, logged",
    "said": "reported, stated",
    "heard": "received, message",
    "wishes": "options",
    "desk": "analysis, service, state",
    "sight": "observer, observation",
    "sighting": "observation",
    "standing": "status, result",
    "accusation": "finding",
    "accused": "finding, suspected",
    "accuses": "points to",
    "mend": "fix, repair",
    "mended": "fixed, repaired",
    "mending": "repair",
    "dear": "expensive",
    "dice": "random seed",
    "anew": "again, from the start",
    "bear": "tolerate",
    "heart": "overfit, memorise",
    "story": "pipeline",
    "stories": "pipelines",
    "room": "package",
    "rooms": "packages",
    "door": "entry point, interface",
    "doors": "entry points, interfaces",
    "house": "project",
    "workshop": "runner, editor",
    "workbench": "context",
    "sureness": "calibration",
    "hunt": "search",
    "walls": "isolation",
}
PHRASES = {
    "bent-output-for-logit-loss": "softmax-before-cross-entropy",
    "output-bent-twice": "double-activation",
    "applies the function itself": "applies softmax already: remove yours",
    "climb out of the valley": "the loss diverges",
    "ends at no number": "became NaN",
    "leave every valley": "gradients explode",
    "too small for the way": "training is too slow",
    "what is no number, or nothing": "NaN or all-zero outputs",
    "whatever training was done until then": "the program crashed here",
    "for the way back": "for the backward pass",
    "weights that suit inputs near": "scale inputs to zero mean and unit variance",
    "does not depend on what is asked": "the model ignores its inputs",
    "too few steps go nowhere": "too few updates",
    "no usual learning rate bears": "unscaled targets cause huge gradients",
    "beside it does not": "labels no longer match their rows",
    "tensors are not moved by themselves": "tensors are on different devices",
    "no experiments:": "tests skipped:",
    "not done, or not seen": "limits",
    "at work:": "running:",
    'in flight"': "running",
    "short looks": "trials that ended early",
    "what each set, and what came of it": "trials",
    "tell whether it holds": "what it does, in words of the field",
    "tells whether it holds": "what it does, in words of the field",
    "draw the negative near": "pull the negative closer",
    "learns to be found out": "is trained with the sign of the discriminator",
    "the outputs are none": "the outputs are not probabilities",
    "steps of one row go everywhere": "noisy updates",
    "steps that are too large climb": "the loss diverges: the learning rate is too high",
    "--output-format json lists them": "-v shows them",
    " whole and 0 short": "trials that ended early",
    "all 2 numbers": "both numbers",
    "received: ..": "received: '.'",
    "other dice": "another random seed",
    '"""the answer."""': "what it holds",
    '"""what came of it."""': "which result",
    '"""by number, or by uuid."""': "what is looked up",
}
"""Sentences that users did not understand, and what to say. Not looked for in recorded results and in
the history.
"""
PROSE = {
    "beside": (r"(?<![-\w{._])beside(?![-\w}=])", "next to, as well as, compared with"),
    "stands": (
        r"(?<![-\w{.])stands?(?!\s+(?:for|still|alone|by itself|up to|guard|ready|a sudden)\b)"
        r"(?![-_]?\s?ins?\b)(?![-\w}=])",
        "is",
    ),
    "is no": (
        r"(?<![Tt]here )(?<!nor )(?<!answer )\b(?:is|are) (?:no|none)\b"
        r"(?! (?:longer|more|one|better|worse|larger|smaller|less|such|or empty|when)\b)(?!,)",
        "is not a",
    ),
    "nobody": (r"(?<![\w_])(?:nobody|whoever)(?![\w_])", "no one, anyone who"),
    "as it stands": (r"\bas (?:it|they) stands?\b", "unchanged"),
    "bent": (r"(?<![-\w{.\\])(?:bends?|bent)(?![-\w}])", "activated, has an activation"),
    "tells": (r"(?<![\w{._])(?:tells|told of)(?![\w}])", "reports, says, distinguishes"),
    "a name a line": (
        r"\b(?:one|a) (?:entry|row|number|score|name|sentence|file|key) a (?:line|text|row)\b",
        "one per line",
    ),
}
"""Words in a sense that is no English, in comments, docstrings, strings and Markdown; not in identifiers."""
OF_PROSE = {
    # `is None` is Python.
    name: re.compile(pattern, 0 if name == "is no" else re.IGNORECASE)
    for name, (pattern, _) in PROSE.items()
}
NOT_REWORDED = re.compile(r"^(?:src/reenact/faults/|docs/faults/)")
"""Sentences there are part of the pages of faults, and are reworded page by page."""
RECORDED = re.compile(
    r"replaced line as it stands|Text that stands exactly once|last two are no criteria"
    r"|exactly as they stand\.|candidate, as it stands|stands after the plus-minus"
    r"|table cell as it stands|as they stand in brackets|as it stands before the bar"
    r"|As it stands in the list|just as it stands in the script|where that is no fixed number"
    r"|Relative difference that is none|each as it stands and with"
)
"""Sentences in the schemas of recorded answers: another word there asks another question."""
OF_PHRASES = re.compile(r"^(?:src/|docs/(?!benchmarks/|history)|README)")
ALLOWED = re.compile(
    r"--story|front door|next door|side ?story|history|header room|headroom|room for|no "
    r"room|without room"
    r"|NO_ROOM|omega\W*_heart"
    r"|out of the house|warehouse|household|bear in mind|dear reader|workshop paper|heartbeat|at "
    r"heart"
    r"|files written anew|drawn anew in each forward|64 random rows by heart"
    r"|house[-_ ]prices|\"dice\"|dice (?:score|loss)|story TO pipeline|'pipeline', 'story'"
    r"|^\"nobody\"$|class=\"beside|^\"bend\"$"
    r"|HouseAge|AveRooms|MedHouseVal|^Said$|^\"(?:standing|accused)\"$",
    re.IGNORECASE,
)
"""The last two were recorded: a class in the schema of an answer, and old keys of a result."""
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True)
class Hit:
    """A word at a place."""

    path: str
    line: int
    word: str

    def __str__(self) -> str:
        rather = (WORDS | PHRASES | {name: rather for name, (_, rather) in PROSE.items()})[
            self.word
        ]
        return f"{self.path}:{self.line}: {self.word} (rather: {rather})"


def files(below: list[str]) -> list[Path]:
    """Every tracked text that is looked at, below these paths."""
    listed = subprocess.run(  # noqa: S603
        ["git", "ls-files", "-z", *(below or LOOKED_AT)],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    kept = [
        name
        for name in listed
        if name.endswith((".py", ".md")) and not UNTOUCHED.search(f"/{name}")
    ]
    return [ROOT / name for name in kept]


def hits(path: Path) -> Iterator[Hit]:
    """The words of one file, each place once."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    name = str(path.relative_to(ROOT))
    if OF_PHRASES.match(name):
        yield from _phrases(name, text)
        if not NOT_REWORDED.match(name):
            yield from _prose(name, path.suffix, text)
    # Most files and most lines have none of the words in them, not even inside others: no closer
    # look.
    possible = [word for word in WORDS if word in text.lower()]
    if not possible:
        return
    pieces = _tokens(text) if path.suffix == ".py" else enumerate(text.splitlines(), 1)
    for line, piece in pieces:
        if not any(word in piece.lower() for word in possible):
            continue
        cleaned = ALLOWED.sub(" ", piece)
        found = {part.lower() for part in PART.findall(cleaned)} & set(WORDS)
        yield from (Hit(name, line, word) for word in sorted(found))


def _phrases(name: str, text: str) -> Iterator[Hit]:
    lowered = text.lower()
    for phrase in PHRASES:
        if phrase in lowered:
            lines = enumerate(lowered.splitlines(), 1)
            yield from (Hit(name, number, phrase) for number, line in lines if phrase in line)


def _prose(name: str, suffix: str, text: str) -> Iterator[Hit]:
    if not any(pattern.search(text) for pattern in OF_PROSE.values()):
        return
    kinds = (tokenize.STRING, tokenize.COMMENT)
    pieces = _tokens(text, kinds) if suffix == ".py" else enumerate(text.splitlines(), 1)
    for line, piece in pieces:
        cleaned = RECORDED.sub(" ", ALLOWED.sub(" ", piece))
        found = (word for word, pattern in OF_PROSE.items() if pattern.search(cleaned))
        yield from (Hit(name, line, word) for word in found)


def _tokens(
    text: str, kinds: tuple[int, ...] = (tokenize.NAME, tokenize.STRING, tokenize.COMMENT)
) -> Iterator[tuple[int, str]]:
    """Identifiers, strings and comments; a string of several lines line by line."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in kinds:
                for offset, line in enumerate(token.string.splitlines()):
                    yield token.start[0] + offset, line
    except (tokenize.TokenError, SyntaxError):
        return


def main(words: list[str]) -> int:
    """See the first lines of this file."""
    below = [word for word in words if not word.startswith("-")]
    found = [hit for path in files(below) for hit in hits(path)]
    if "--count" in words:
        for word, number in Counter(hit.word for hit in found).most_common():
            places = Counter("/".join(hit.path.split("/")[:3]) for hit in found if hit.word == word)
            most = ", ".join(f"{place} {count}" for place, count in places.most_common(3))
            print(f"{number:6d} {word:12} {most}")
    else:
        print("\n".join(map(str, found)))
    print(f"{len(found)} words in {len({hit.path for hit in found})} files.")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
