"""Files of the shapes that foreign programs would read, made of the data of `standins.py`."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from benchmarks.dataset import standin_games
from benchmarks.dataset.standins import (
    Array,
    films,
    paper_citations,
    paper_subjects,
    paper_words,
    prose,
    ratings,
    waves_table,
)


def _transactions(file: Path) -> None:
    """A table of numbers whose last column is a rare class."""
    chance = np.random.default_rng(8)
    rows = chance.normal(0, 1, (6000, 30))
    rare = chance.random(6000) < 0.02
    rows[rare, 1:5] += 3
    head = ",".join(
        f'"{name}"' for name in ["Time", *(f"V{k}" for k in range(1, 29)), "Amount", "Class"]
    )
    lines = [
        ",".join(f"{value:.4f}" for value in row) + f',"{int(kind)}"'
        for row, kind in zip(rows, rare, strict=True)
    ]
    file.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def _content(file: Path) -> None:
    """Papers with words and a subject: 700 rows of a number, 100 words, a name."""
    words, subjects = paper_words(), paper_subjects()
    rows = (
        "\t".join(
            [
                str(row + 1),
                *(str(int(word)) for word in words[row]),
                f"Subject_{subject}",
            ]
        )
        for row, subject in enumerate(subjects)
    )
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _cites(file: Path) -> None:
    lines = (f"{one + 1}\t{two + 1}" for one, two in paper_citations())
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _pairs(file: Path) -> None:
    """Sentences and the same in another alphabet, tab between them."""
    other = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba")
    lines = [line.removesuffix(" .") for line in prose(800).splitlines()]
    file.write_text(
        "".join(f"{line}\t{line.translate(other)}\tx\n" for line in lines),
        encoding="utf-8",
    )


def _tokens(file: Path) -> None:
    """Characters as numbers of two bytes."""
    text = prose(3000)
    known = {character: number for number, character in enumerate(sorted(set(text)))}
    np.array([known[character] for character in text], dtype=np.uint16).tofile(file)


def _vocabulary(file: Path) -> None:
    """What the numbers of `_tokens` mean."""
    characters = sorted(set(prose(3000)))
    known = {character: number for number, character in enumerate(characters)}
    with file.open("wb") as out:
        facts = {
            "vocab_size": len(known),
            "stoi": known,
            "itos": dict(enumerate(characters)),
        }
        pickle.dump(facts, out)


def _prose(sentences: int) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        file.write_text(f"{prose(sentences)}\nO God, O God!\n", encoding="utf-8")

    return write


def _wave_lines(rows: int, length: int = 500) -> Callable[[Path], None]:
    return lambda file: np.savetxt(file, waves_table(rows, length), delimiter="\t", fmt="%.5f")


def _gym(file: Path) -> None:
    """A module `gym` for programs that import it in many places."""
    shutil.copy(standin_games.__file__, file)


def _daily_waves(rows: int, columns: int) -> Array:
    """Series of one day's period each, with phases and noise of their own, above zero."""
    chance = np.random.default_rng(14)
    hours = np.arange(rows)[:, None]
    phases = chance.uniform(0, 2 * np.pi, columns)
    level = 10 + 3 * np.sin(2 * np.pi * hours / 24 + phases)
    return level + chance.normal(0, 0.2, (rows, columns))


def _sensors(file: Path) -> None:
    """Six series without names, comma between them."""
    np.savetxt(file, _daily_waves(500, 6), delimiter=",", fmt="%.4f")


def _shares(file: Path) -> None:
    """Prices of ten shares, and an index that is made of them."""
    prices = _daily_waves(400, 10)
    table = np.column_stack([prices, prices @ np.linspace(0.5, 1.5, 10)])
    head = ",".join([*(f"S{k}" for k in range(10)), "NDX"])
    np.savetxt(file, table, delimiter=",", fmt="%.4f", header=head, comments="")


FILES: Mapping[str, Callable[[Path], None]] = {
    "prose": _prose(2000),
    "short prose": _prose(300),
    "transactions": _transactions,
    "content": _content,
    "cites": _cites,
    "pairs": _pairs,
    "tokens": _tokens,
    "vocabulary": _vocabulary,
    "waves": _wave_lines(400),
    "fewer waves": _wave_lines(120),
    "short waves": _wave_lines(200, 100),
    "gym": _gym,
    "sensors": _sensors,
    "shares": _shares,
    "ratings": lambda file: ratings().to_csv(file, index=False),
    "films": lambda file: films().to_csv(file, index=False),
}
"""What a manifest may ask for, by name."""
