"""Walks in a real browser: by keyboard, in dark and light, on a narrow screen, with and without
scripts.

Screenshots go to the folder that SCREENSHOTS names; without it none are taken of the walks.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import captures
import fences
import pytest
import screenshots

from reenact.cli.serving import forms
from reenact.journal import Journal, Kind
from reenact.web.serve import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, StorageState

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = screenshots.chromium()
pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="no Chromium on this machine: scripts/setup EXTRAS chromium",
    ),
    # One browser for the module, on one worker.
    pytest.mark.xdist_group("browser"),
]
T = TypeVar("T", bound=Callable[..., None])
WIDE, NARROW = (1280, 900), (390, 844)
USUAL = (("narrow", False), ("wide", True))
"""Screens of every run of the tests."""
WRITTEN_BY_A_BENCHMARK = re.compile(r"(repair-(lite|full)-figure-[345]|cost-[a-z]+)\.svg")
Opened = Callable[..., "Page"]


def every_screen(test: T) -> T:
    """The test at three widths, in light and in dark; most of them are slow walks."""
    screens = [
        pytest.param(
            size,
            dark,
            id=f"{name}-{'dark' if dark else 'light'}",
            marks=() if (name, dark) in USUAL else pytest.mark.slow,
        )
        for name, size in {
            "narrow": NARROW,
            "middle": (820, 900),
            "wide": (1440, 900),
        }.items()
        for dark in (False, True)
    ]
    return pytest.mark.parametrize(("size", "dark"), screens)(test)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(screenshots.FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def let_in(
    chromium: Browser, stored: tuple[Path, dict[str, str]]
) -> Iterator[tuple[str, StorageState]]:
    """The address of a server, and the cookie of somebody who came by the one with the token."""
    with serving(stored[0]) as address:
        context = chromium.new_context()
        context.new_page().goto(address)
        known = context.storage_state()
        context.close()
        parts = urlsplit(address)
        yield f"{parts.scheme}://{parts.netloc}", known


def keep(page: Page, name: str) -> None:
    """A picture of the whole page where pictures are asked for; nothing of it sticks out to the
    side.
    """
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
    assert fits(page), name


@pytest.fixture
def opened(chromium: Browser, let_in: tuple[str, StorageState]) -> Iterator[Opened]:
    """A page of the server; what the browser complains of fails the test."""
    complaints: list[str] = []
    contexts = []
    origin, known = let_in

    def made(
        path: str = "/",
        *,
        dark: bool = False,
        size: tuple[int, int] = WIDE,
        scripts: bool = True,
    ) -> Page:
        context = chromium.new_context(
            base_url=origin,
            storage_state=known,
            color_scheme="dark" if dark else "light",
            viewport={"width": size[0], "height": size[1]},
            java_script_enabled=scripts,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on(
            "console",
            lambda output: complaints.append(output.text) if output.type == "error" else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield made
    for context in contexts:
        context.close()
    assert complaints == []


def fits(page: Page) -> bool:
    """Whether nothing sticks out of the window to the side. A page that is still loading has no
    style sheet yet, and is wider.
    """
    page.wait_for_load_state()
    fit: bool = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    return fit


def test_search_a_run_and_read_it_by_keyboard_alone(opened: Opened, ids: dict[str, str]) -> None:
    page = opened()
    page.keyboard.press("/")
    page.keyboard.type("rehearsal")
    page.locator("#list tbody tr").nth(1).wait_for(state="detached")
    assert "q=rehearsal" in page.url
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == ids["rehearsal"]:
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{ids['rehearsal']}")
    page.locator("#talk summary").first.focus()
    page.keyboard.press("Enter")
    page.get_by_text("You are asked.").wait_for()


def test_a_drawing_is_enlarged_and_set_back_and_a_squiggle_leads_to_its_finding(
    opened: Opened, ids: dict[str, str]
) -> None:
    page = opened(f"/runs/{ids['diagnose']}", dark=True)
    drawing = page.locator(".drawing svg").first
    before = drawing.get_attribute("viewBox")
    drawing.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.locator(".drawing svg.enlarged").first.wait_for()
    drawing.dblclick()
    assert drawing.get_attribute("viewBox") == before
    page.locator("a.squiggle").first.click()
    assert page.url.endswith("#finding-0")
    screenshots.settle(page, "training")
    assert page.locator("#training svg").count() >= 1
    assert page.locator("#training").get_by_text("UM005").first.is_visible(), "where the rule fired"
    assert page.locator("#layers svg rect").count() >= 1
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    keep(page, "diagnose-dark")


@every_screen
def test_pages_fit_a_screen(
    opened: Opened, ids: dict[str, str], size: tuple[int, int], dark: bool
) -> None:
    page = opened(size=size, dark=dark)
    runs = {
        one: f"/runs/{ids[one]}"
        for one in ("diagnose", "repair", "bug", "alternatives", "rehearsal")
    }
    compared = f"/compare?run={ids['diagnose']}&run={ids['repair']}&run={ids['bug']}"
    for name, path in {"runs": "/", "compare": compared, "new": "/new", **runs}.items():
        page.goto(path)
        keep(page, f"{name}-{size[0]}-{'dark' if dark else 'light'}")


def test_everything_is_read_without_scripts(opened: Opened, ids: dict[str, str]) -> None:
    page = opened(scripts=False)
    page.get_by_label("Search").fill("rehearsal")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name=ids["rehearsal"]).click()
    page.get_by_role("link", name="own page").first.click()
    assert page.get_by_text("You are asked.").is_visible()
    page.goto(f"/runs/{ids['repair']}")
    assert page.locator("figure svg").count() == 4


def test_a_run_at_work_is_seen_to_go_on_and_to_end(chromium: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "live"
    with Journal.open(folder) as journal, serving(folder) as address:
        with journal.run(pipeline="repair", request={}, what="train.py") as run:
            page = chromium.new_page()
            page.goto(address)
            page.get_by_role("link", name=run.record.id).click()
            page.get_by_role("button", name="Stop gently").wait_for()
            run.step("one", lambda: 1, kind=Kind.TRIAL)
            page.get_by_text("1 step done").wait_for(timeout=30_000)
            run.finish({"verdict": "all is well"})
        page.get_by_text("all is well").first.wait_for(timeout=30_000)
        assert page.get_by_role("button", name="Stop gently").count() == 0
        page.close()


@every_screen
def test_a_training_is_followed_and_what_came_of_it_is_used(
    chromium: Browser,
    tmp_path: Path,
    repaired: tuple[str, str],
    write_trace: Callable[[Path], None],
    size: tuple[int, int],
    dark: bool,
) -> None:
    """Live, repair this, apply, rename, compare, remove: each clicked as it is seen."""
    diagnosis, repair = repaired
    runs = tmp_path / "runs"
    look = f"{size[0]}-{'dark' if dark else 'light'}"

    with serving(runs, list(forms()), tmp_path) as address:
        context = chromium.new_context(
            color_scheme="dark" if dark else "light",
            viewport={"width": size[0], "height": size[1]},
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(address)
        with (
            Journal.open(runs) as journal,
            journal.run(pipeline="diagnose", request={}, what="live.py") as run,
        ):
            run.note("watching", {"folder": str(runs / "traces" / "train-1"), "epochs": 8})
            page.get_by_role("link", name=run.record.id).click()
            write_trace(runs / "traces" / "train-1")
            page.locator("#training-now svg").first.wait_for()
            assert page.get_by_text("epoch 1/8").first.is_visible()
            keep(page, f"live-{look}")
            run.finish({"verdict": "done"})
        page.get_by_text("Rename").wait_for()
        assert page.get_by_role("button", name="Stop gently").count() == 0
        page.get_by_role("link", name="Runs").first.click()
        page.get_by_role("link", name=diagnosis).click()
        page.get_by_role("link", name="Repair this").click()
        assert page.get_by_role("combobox", name="Program").input_value() == "train.py --lr 3"
        keep(page, f"repair-this-{look}")
        page.goto(page.url.partition("/new")[0] + f"/runs/{repair}")
        keep(page, f"before-apply-{look}")
        page.get_by_role("button", name="Apply the change").click()
        page.get_by_text("Written; what stood there before").wait_for()
        assert "lr=0.125" in (tmp_path / "train.py").read_text()
        keep(page, f"applied-{look}")
        page.get_by_text("Rename").click()
        page.get_by_label("Name").fill("smaller rate")
        keep(page, f"renaming-{look}")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("heading", name="smaller rate").wait_for()
        page.get_by_role("link", name="Runs").first.click()
        for one in repaired:
            page.get_by_label(f"Compare {one}").check()
        keep(page, f"ticked-{look}")
        page.get_by_role("button", name="Compare the ticked").click()
        page.get_by_role("heading", name="beside").wait_for()
        keep(page, f"compared-{look}")
        page.goto(page.url.partition("/compare")[0] + f"/runs/{diagnosis}")
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Remove").click()
        page.get_by_label("Search").wait_for()
        assert page.get_by_role("link", name=diagnosis).count() == 0
        assert page.get_by_role("link", name=repair).count() == 1
        keep(page, f"removed-{look}")
        context.close()


WAITS = """\
import pathlib, time

while not pathlib.Path("go").exists():
    time.sleep(0.05)
print("done")
"""


def test_a_run_is_started_stopped_and_resumed_from_the_page(
    chromium: Browser, tmp_path: Path
) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    with serving(tmp_path / ".reenact", list(forms()), tmp_path) as address:
        page = chromium.new_page()
        page.set_default_timeout(60_000)
        page.goto(address)
        page.get_by_role("link", name="from this page").click()
        page.get_by_role("combobox", name="Program").fill("waits.py")
        page.get_by_label("Max time").fill("300")
        page.get_by_role("button", name="Start").click()
        page.get_by_text("Its run:").wait_for()
        page.locator("#process a").click()
        page.get_by_role("button", name="Stop gently").click()
        page.get_by_role("button", name="Resume").wait_for()
        assert "stopped" in page.locator("p.verdict").inner_text()
        run = page.url.rpartition("/")[2].partition("?")[0]
        (tmp_path / "go").touch()
        page.get_by_role("button", name="Resume").click()
        page.get_by_text("Nothing could be judged (exit code 3)").wait_for()
        page.get_by_role("link", name=run).click()
        assert "finished" in page.locator("p.verdict").inner_text()
        assert "--max-time=300" in page.locator("p.command").inner_text()
        page.close()


def test_two_ticked_runs_are_compared(opened: Opened, ids: dict[str, str]) -> None:
    page = opened()
    for pipeline in ("repair", "bug"):
        page.get_by_label(f"Compare {ids[pipeline]}").check()
    page.get_by_role("button", name="Compare the ticked").click()
    page.get_by_role("heading", name="beside").wait_for()
    assert page.locator("tr.differs").count() >= 2
    page.get_by_role("link", name=f"only in {ids['bug']}").first.click()
    page.wait_for_url(f"**/runs/{ids['bug']}#*")
    assert page.locator(f"#{page.url.partition('#')[2]}").is_visible()


def test_the_pictures_of_the_documentation_are_taken_of_the_page_of_today(
    chromium: Browser, stored: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    runs = screenshots.newest(stored[0])
    with serving(stored[0]) as address:
        made = screenshots.shoot(chromium, address, runs, tmp_path)
    kept = {path.stem: path for path in screenshots.IMAGES.glob("*.png")}
    assert {name: size(path) for name, path in made.items()} == {
        name: size(path) for name, path in kept.items()
    }


def test_every_picture_of_a_page_has_its_maker() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in fences.pages()
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text())
    }
    assert screenshots.IMAGES / "diagnosis.png" in shown
    measured = {one for one in shown if one.parent.name == "benchmarks"}
    assert all(one.is_file() and WRITTEN_BY_A_BENCHMARK.fullmatch(one.name) for one in measured)
    captured = {captures.IMAGES / f"{name}-80.svg" for name in captures.COMMANDS}
    replayed = set(captures.IMAGES.glob("live-*.svg"))
    assert shown - measured - captured - replayed <= {
        screenshots.IMAGES / f"{name}.png" for name in screenshots.SHOTS
    }
    kept = {*screenshots.IMAGES.glob("*.png"), *captures.IMAGES.iterdir()}
    assert {path.resolve() for path in kept} <= shown, "a picture that no page shows"


def size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG."""
    wide, high = struct.unpack(">II", picture.read_bytes()[16:24])
    return wide, high
