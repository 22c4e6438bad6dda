"""Pictures of docs/img: real runs in a folder of their own, their pages in Chromium. Takes some minutes.

    .venv/bin/python scripts/screenshots.py [FOLDER]

FOLDER is kept: trainings that its journal holds are not done again. The tests take the same pictures, of
smaller runs, so that no picture is left without its page.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reenact.journal import JournalReader
from reenact.types import ExitCode
from reenact.web.serve import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent.parent
CASES = HERE / "benchmarks" / "cases"
BUG = CASES / "bugs" / "matchbook-popular"
IMAGES = HERE / "docs" / "img"
WIDTH = 1180
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
LONGEST_MS = 60_000


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture."""

    command: str
    """The page of this command's newest run; empty: the list of runs."""
    height: int
    dark: bool = False
    place: str = ""
    """The part of the page that is brought to its top."""


SHOTS = {
    "runs": Shot("", 560),
    "diagnosis": Shot("diagnose", 1400),
    "layers": Shot("diagnose", 1100, dark=True, place="training"),
    "repair": Shot("repair", 1150),
    "bug": Shot("bug", 1150),
}
"""Every picture of the documentation by its name."""


def main() -> None:
    from playwright.sync_api import sync_playwright

    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/points")  # noqa: S108 - a name to be seen on them
    folder.mkdir(parents=True, exist_ok=True)
    run_commands(folder)
    with serving(folder / ".reenact") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        shoot(browser, address, newest(folder / ".reenact"), IMAGES)
        browser.close()


def chromium() -> str | None:
    """The browser of this machine; none when it has none."""
    return next((path for name in CHROMIUM if (path := shutil.which(name))), None)


def run_commands(folder: Path) -> None:
    """A bug, a repair and a diagnosis, for real."""
    shutil.copy(HERE / "src" / "reenact" / "demo" / "cases" / "train.py", folder)
    for file in ("report.md", "project.bundle", "recording.jsonl"):
        shutil.copy(BUG / file, folder)
    case = json.loads((BUG / "case.json").read_text("utf-8"))
    revisions = ("--commit", case["buggy"][:12], "--fixed", case["fixed"][:12])
    model = ("--model", "replay:recording.jsonl")
    run(folder, "bug", "--repo", "project.bundle", *revisions, *model, "report.md")
    run(folder, "repair", "--budget", "12x", "train.py")
    run(folder, "diagnose", "--depth", "normal", "--budget", "16t", "train.py")


def run(folder: Path, command: str, *words: str) -> None:
    """Run a command in the folder; its exit code is its verdict, and only an error ends this."""
    line = [sys.executable, "-m", "reenact", command, *words]
    ended = subprocess.run(line, cwd=folder, check=False)  # noqa: S603
    if ended.returncode == ExitCode.ERROR:
        raise SystemExit(f"reenact {command} failed; no picture was taken.")


def newest(runs: Path) -> dict[str, str]:
    """Command to the id of its newest run."""
    with JournalReader.open(runs) as reader:
        return {run.pipeline: run.id for run in reversed(reader.runs())}


def shoot(browser: Browser, address: str, runs: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """Every picture into the folder; the file of each by its name."""
    parts = urlsplit(address)
    context = browser.new_context(base_url=f"{parts.scheme}://{parts.netloc}")
    page = context.new_page()
    page.set_default_timeout(LONGEST_MS)
    page.goto(address)
    made = {}
    for name, shot in SHOTS.items():
        page.set_viewport_size({"width": WIDTH, "height": shot.height})
        page.emulate_media(color_scheme="dark" if shot.dark else "light")
        page.goto(f"/runs/{runs[shot.command]}" if shot.command else "/")
        settle(page, shot.place)
        made[name] = folder / f"{name}.png"
        page.screenshot(path=made[name])
    context.close()
    return made


def settle(page: Page, place: str) -> None:
    """Bring a part of the page to its top."""
    page.evaluate(
        "(place) => (document.getElementById(place) || document.body).scrollIntoView()",
        place,
    )


if __name__ == "__main__":
    main()
