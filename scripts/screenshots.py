"""Makes docs/img anew: real runs in a folder of their own, their pages in Chromium. Takes some minutes.

    .venv/bin/python scripts/screenshots.py [FOLDER]

FOLDER is kept: trainings that its journal holds are not done again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright

from reenact.journal import Shelf
from reenact.web.serve import serving

HERE = Path(__file__).parent.parent
CASES = HERE / "src" / "reenact" / "bench" / "cases"
BUG = CASES / "bugs" / "matchbook-popular"
WIDTH = 1180
SHOTS = {
    "runs": ("", 420, "light", ""),
    "diagnosis": ("diagnose", 1400, "light", ""),
    "layers": ("diagnose", 1100, "dark", "#training"),
    "repair": ("repair", 1150, "light", ""),
    "bug": ("bug", 1150, "light", ""),
}
"""Name of the picture: story, height, colours, where on the page."""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/points")  # noqa: S108 - a name to be seen on them
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(CASES / "demo" / "train.py", folder)
    for file in ("report.md", "project.bundle", "recording.jsonl"):
        shutil.copy(BUG / file, folder)
    case = json.loads((BUG / "case.json").read_text("utf-8"))
    revisions = ("--commit", case["buggy"][:12], "--fixed", case["fixed"][:12])
    model = ("--model", "replay:recording.jsonl")
    told(folder, "bug", "--repo", "project.bundle", *revisions, *model, "report.md")
    told(folder, "repair", "--budget", "12", "train.py")
    told(folder, "diagnose", "--depth", "normal", "--budget", "16", "train.py")
    with serving(folder / ".reenact") as address, sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        shoot(browser, address, newest(folder / ".reenact"))
        browser.close()


def told(folder: Path, story: str, *words: str) -> None:
    """A story told in the folder; its exit code is its verdict, not ours."""
    subprocess.run([sys.executable, "-m", "reenact", story, *words], cwd=folder, check=False)  # noqa: S603


def newest(runs: Path) -> dict[str, str]:
    """Story to the id of its newest run."""
    with Shelf.look(runs) as shelf:
        return {run.story: run.id for run in reversed(shelf.runs())}


def shoot(browser: Browser, address: str, runs: dict[str, str]) -> None:
    parts = urlsplit(address)
    entering = browser.new_context()
    entering.new_page().goto(address)
    known = entering.storage_state()
    for name, (story, height, colours, place) in SHOTS.items():
        context = browser.new_context(
            base_url=f"{parts.scheme}://{parts.netloc}",
            storage_state=known,
            color_scheme="dark" if colours == "dark" else "light",
            viewport={"width": WIDTH, "height": height},
        )
        page = context.new_page()
        page.goto(f"/runs/{runs[story]}{place}" if story else "/")
        # Drawings become interactive when they are seen; their library is large.
        page.wait_for_timeout(3000)
        page.screenshot(path=HERE / "docs" / "img" / f"{name}.png")
        context.close()


if __name__ == "__main__":
    main()
