"""News: a page that asks every second gets what has changed, and all of it at the end."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from starlette.testclient import TestClient

from reenact.journal import Journal, Kind
from reenact.web.state import AppState


def mark(page: str) -> str:
    found = re.search(r'"seen": "([^"]+)"', page)
    assert found is not None
    return found[1]


def test_a_page_gets_the_steps_of_its_run_and_its_end(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    client = enter(make_state(tmp_path / "runs"))
    with Journal.open(tmp_path / "runs") as journal:
        with journal.run(pipeline="repair", request={}) as run:
            address = f"/runs/{run.record.id}"
            seen = mark(client.get(address).text)
            assert client.get(address, params={"seen": seen}).status_code == 204
            run.step("one", lambda: 1, kind=Kind.TRIAL)
            news = client.get(address, params={"seen": seen})
            assert "The last steps" in news.text
            assert "hx-retarget" not in news.headers
            run.finish({"verdict": "done"})
        end = client.get(address, params={"seen": mark(news.text)})
    assert "done" in end.text
    assert end.headers["hx-retarget"] == end.headers["hx-reselect"] == "#main"
    assert "every 1s" not in end.text


def test_the_list_gets_a_new_run(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    client = enter(make_state(tmp_path / "runs"))
    assert mark(client.get("/").text) == "nothing"
    with (
        Journal.open(tmp_path / "runs") as journal,
        journal.run(pipeline="repair", request={}) as run,
    ):
        news = client.get("/", params={"seen": "nothing"})
        assert run.record.id in news.text
        assert client.get("/", params={"seen": mark(news.text)}).status_code == 204
        run.finish(None)
    assert client.get("/", params={"seen": mark(news.text)}).status_code == 200


def test_a_training_that_goes_on_shows_its_curve_and_how_far_it_is(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
    write_trace: Callable[[Path], None],
) -> None:
    client = enter(make_state(tmp_path / "runs"))
    folder = tmp_path / "runs" / "traces" / "train-1"
    with (
        Journal.open(tmp_path / "runs") as journal,
        journal.run(pipeline="diagnose", request={}) as run,
    ):
        run.note("watching", {"folder": str(folder), "epochs": 8})
        address = f"/runs/{run.record.id}"
        before = client.get(address).text
        assert 'id="training-now"' not in before
        write_trace(folder)
        page = client.get(address, params={"seen": mark(before)}).text
        assert 'id="training-now"' in page
        assert "step 30, loss" in page
        assert "<svg" in page
        assert client.get(address, params={"seen": mark(page)}).status_code == 204
        run.finish({"verdict": "done"})
