"""One run: steps in pages, the conversation folded away, errors that say what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reenact.journal import Journal, Kind
from reenact.web.serve import make_app
from reenact.web.state import AppState


def test_steps_come_in_pages_that_lead_on_and_back(
    browser: TestClient, ids: dict[str, str]
) -> None:
    first = browser.get(f"/runs/{ids['rehearsal']}/steps").text
    assert "1 to 100 of 131 steps" in first
    assert "part-98" in first
    assert "part-99" not in first
    (onward,) = set(re.findall(r'rel="next" href="([^"]+)"', first))
    second = browser.get(onward).text
    assert "101 to 131 of 131 steps" in second
    assert "part-129" in second
    assert 'rel="next"' not in second
    assert 'rel="prev"' in second


@pytest.mark.parametrize(
    ("asked", "shown", "hidden"),
    [
        ("kind=llm", "rehearsal/ask", "part-1"),
        ("under=rehearsal/part-7", "part-7", "part-70"),
        ("state=failed", "No step is like that", "part-1"),
        ("kind=nonsense&after=-3", "part-1", "nonsense</code>"),
    ],
)
def test_steps_are_filtered(
    browser: TestClient, ids: dict[str, str], asked: str, shown: str, hidden: str
) -> None:
    page = browser.get(f"/runs/{ids['rehearsal']}/steps?{asked}").text
    assert shown in page
    assert f"{hidden}</code>" not in page


def test_the_conversation_is_folded_and_whole(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/runs/{ids['rehearsal']}").text
    (address,) = set(re.findall(r'hx-get="(/runs/[^"]+/steps/\d+)"', page))
    assert "You are asked." not in page
    step = browser.get(address).text
    for part in (
        "You are asked.",
        "Is it &lt;script&gt;",
        "Answer: script",
        "print(1)",
        "because",
        "[a picture: Figure 2, image/png, 2100 bytes]",
    ):
        assert part in step
    assert 'id="bodies"' in step


def test_a_repair_names_the_other_runs_of_its_program(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = browser.get(f"/runs/{ids['repair']}").text
    for pipeline in ("diagnose", "alternatives"):
        assert f'<a href="/runs/{ids[pipeline]}">{pipeline} {ids[pipeline]}</a>' in page
    assert f'href="/runs/{ids["rehearsal"]}"' not in page


def test_what_is_empty_is_not_shown(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/runs/{ids['bug']}").text
    assert "Conversation with the model" not in page
    assert "<dt>cost</dt>" not in page
    assert "<dt>tokens</dt>" not in page


def test_a_failed_run_shows_its_error_and_no_resume_without_a_command(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = browser.get(f"/runs/{ids['failed']}").text
    assert "RuntimeError: no luck" in page
    assert "/resume" not in page
    assert 'class="verdict error"' in page


def test_a_run_at_work_is_watched_and_can_be_stopped(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    folder = tmp_path / "live"
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="repair", request={}, what="here") as run,
    ):
        run.note(
            "best/1",
            {
                "patch": {"changes": []},
                "score": 0.5,
                "seeds": 1,
                "share": 1.0,
                "spent": 1.0,
            },
        )
        run.step("part", lambda: 1, kind=Kind.TRIAL)
        page = enter(make_state(folder)).get(f"/runs/{run.record.id}").text
    assert f'hx-get="/runs/{run.record.id}" hx-vals=' in page
    assert "Stop gently" in page
    assert "The best so far" in page
    assert "The last steps" in page
    assert '<noscript><meta http-equiv="refresh"' in page


@pytest.mark.parametrize(
    "path",
    [
        "/runs/nothing-here",
        "/runs/1/steps/99999",
        "/nowhere",
        "/runs/last/steps/99999999999999999999",
        "/runs/last/steps/0",
        "/runs/last/steps/-1",
        "/runs/last/steps/x",
        "/started/99999999999999999999",
        f"/started/{'9' * 5000}",
        f"/runs/last/steps/{'9' * 5000}",
    ],
    ids=lambda path: path[:60],
)
def test_what_is_not_there_is_stated_with_a_way_back(browser: TestClient, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 404
    assert "All runs" in answer.text


def test_numbers_behind_a_question_mark_are_bounded_too(browser: TestClient) -> None:
    for after in ("99999999999999999999", "-1", "nan", "9" * 5000):
        assert browser.get(f"/runs/last/steps?after={after}").status_code == 200


def test_nothing_that_a_reader_cannot_see_is_on_a_page(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    nasty = "a\x1b]0;x\x07\u202eb\x9b31m\udcff<img src=x>"
    with Journal.open(tmp_path / "runs") as journal:
        argv = ("diagnose", nasty.replace("\udcff", ""))
        with journal.run(pipeline="diagnose", request={}, argv=argv, what=argv[1]) as run:
            run.step("part", lambda: argv[1], kind=Kind.TRIAL)
    browser = enter(make_state(tmp_path / "runs"))
    for path in (
        "/",
        "/runs/last",
        "/runs/last/steps",
        "/runs/last/steps/1",
        "/runs/last/report.html",
    ):
        page = browser.get(path)
        assert page.status_code == 200
        assert not set(page.text) & set("\x1b\x07\u202e\x9b"), path
        assert "<img src=x>" not in page.text


def test_a_journal_that_is_damaged_is_stated_on_the_page(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    folder = tmp_path / "runs"
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="bug", request={}) as run,
    ):
        run.finish(None)
    client = enter(make_state(folder))
    (folder / "journal.db").write_bytes(b"no database at all" * 100)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "damaged" in answer.text
    assert "Move it aside" in answer.text


def test_a_fault_of_the_page_itself_is_owned_up_to(
    runs_dir: Path, make_state: Callable[[Path], AppState]
) -> None:
    state = make_state(runs_dir)
    app = make_app(state, 8123)
    client = TestClient(app, base_url="http://127.0.0.1:8123", raise_server_exceptions=False)
    client.get(f"/enter?token={state.key.token}")
    state.forms = (None,)  # type: ignore[assignment]
    answer = client.get("/new?verb=x")
    assert answer.status_code == 500
    assert "a fault of its own" in answer.text
    assert "x-frame-options" in answer.headers


@pytest.mark.parametrize(
    "pipeline", ["diagnose", "repair", "bug", "alternatives", "rehearsal", "failed"]
)
def test_nothing_is_shown_that_is_empty(
    browser: TestClient, ids: dict[str, str], pipeline: str
) -> None:
    page = browser.get(f"/runs/{ids[pipeline]}").text
    empty = re.findall(r"<(h[1-4]|dd|dt|pre|tbody|section|figure|ul|summary)[^>]*>\s*</\1>", page)
    assert empty == []
    assert "<dd>-</dd>" not in page
    if pipeline != "rehearsal":
        assert "Conversation with the model" not in page, "no model was asked"
        assert "<dt>cost</dt>" not in page
