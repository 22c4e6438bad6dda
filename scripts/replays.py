"""Pictures of docs/img/terminal/live-*: the terminal while a program trains, replayed by an emulator.

    .venv/bin/python scripts/replays.py [FOLDER]

A program with prints, one with a tqdm bar and one with rich bars are diagnosed on terminals of 60, 80 and 100
columns; of each the screen is drawn with our line on it, and in FOLDER also the end. Without FOLDER those
that a page of the documentation shows. Takes about a minute for each.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent.parent
# The emulator is that of the tests.
sys.path.insert(0, str(HERE / "tests"))

from captures import FONTS, IMAGES, REENACT  # noqa: E402

from terminals import OnTerminal, Replay, run_on_terminal  # noqa: E402

if TYPE_CHECKING:
    from rich.text import Text

WIDTHS = (60, 80, 100)
ROWS = 14
NET = """\
import time
import torch
from torch import nn
{imports}
torch.manual_seed(0)
x = torch.randn(400, 4)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
def step(rows):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    return loss.item()
epochs = 12
"""
PROGRAMS = {
    "prints": NET.format(imports="")
    + """
for epoch in range(epochs):
    for rows in torch.randperm(400).split(20):
        loss = step(rows)
    print(f"epoch {epoch:2d}   loss {loss:.4f}")
""",
    "tqdm": NET.format(imports="from tqdm import tqdm")
    + """
for epoch in range(epochs):
    bar = tqdm(torch.randperm(400).split(20), desc=f"epoch {epoch}")
    for rows in bar:
        bar.set_postfix(loss=f"{step(rows):.3f}")
""",
    "rich": NET.format(imports="from rich.progress import Progress")
    + """
with Progress() as progress:
    fit = progress.add_task("fit", total=epochs)
    for epoch in range(epochs):
        for rows in progress.track(torch.randperm(400).split(20), description=f"epoch {epoch}"):
            loss = step(rows)
        progress.console.print(f"[green]epoch {epoch}[/]   loss {loss:.4f}")
        progress.advance(fit)
""",
}
IN_PAGES = (("tqdm", 80), ("rich", 60))


@dataclass(frozen=True, slots=True)
class Screens:
    """Of one command: its screen in the middle of the training, and at the end."""

    middle: str
    end: str


def replay(name: str, columns: int, folder: Path) -> Screens:
    """Diagnose the program on a terminal; raises ValueError where our line was not seen."""
    (folder / "train.py").write_text(PROGRAMS[name], encoding="utf-8")
    here = Path.cwd()
    os.chdir(folder)
    try:
        ran = run_on_terminal([*REENACT, "diagnose", "train.py"], columns=columns, rows=ROWS)
    finally:
        os.chdir(here)
    return screens(ran, "reenact diagnose train.py")


def screens(ran: OnTerminal, title: str) -> Screens:
    """The last screen but a few on which our line says how much time is left, and the last one
    of all.
    """
    seen: list[str] = []

    def look(shown: Replay) -> None:
        if any(row.endswith(" left") for row in shown.shown):
            seen.append(picture(shown, title))

    replayed = ran.replay(look)
    if not seen:
        raise ValueError(f"No time left was shown. Received: {replayed.all_rows}")
    return Screens(seen[len(seen) * 2 // 3], picture(replayed, title))


def picture(shown: Replay, title: str) -> str:
    """A screen as SVG, with its colours. Nothing is fetched for it."""
    from rich.console import Console

    console = Console(record=True, width=shown.screen.columns, file=io.StringIO())
    for row in range(shown.screen.lines):
        console.print(
            _row(shown.screen.buffer[row], shown.screen.columns),
            no_wrap=True,
            crop=True,
        )
    return FONTS.sub("", console.export_svg(title=title)).replace(
        "Fira Code, monospace", "monospace"
    )


def _row(cells: Any, columns: int) -> Text:
    from rich.style import Style
    from rich.text import Text

    text = Text()
    for (color, bold), same in groupby(
        (cells[column] for column in range(columns)),
        key=lambda cell: (cell.fg, cell.bold),
    ):
        known = color.replace("brown", "yellow") if not _is_number(color) else f"#{color}"
        style = Style(color=None if color == "default" else known, bold=bold)
        text.append("".join(cell.data for cell in same), style)
    return text


def _is_number(color: str) -> bool:
    return len(color) == 6 and all(digit in "0123456789abcdef" for digit in color)


def main() -> None:
    wanted = (
        IN_PAGES
        if len(sys.argv) < 2
        else [(name, columns) for name in PROGRAMS for columns in WIDTHS]
    )
    target = IMAGES if len(sys.argv) < 2 else Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, columns in wanted:
        with tempfile.TemporaryDirectory() as made:
            shown = replay(name, columns, Path(made))
        (target / f"live-{name}-{columns}.svg").write_text(shown.middle, encoding="utf-8")
        if len(sys.argv) > 1:
            (target / f"end-{name}-{columns}.svg").write_text(shown.end, encoding="utf-8")
        print(f"{name} at {columns} columns")


if __name__ == "__main__":
    main()
