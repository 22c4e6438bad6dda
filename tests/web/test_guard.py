"""Who may look: one browser of this machine, by the printed address, once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reenact.web.serve import make_app
from reenact.web.state import AppState

PORT = 8123
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def state(runs_dir: Path, make_state: Callable[[Path], AppState]) -> AppState:
    return make_state(runs_dir)


@pytest.fixture
def stranger(state: AppState) -> TestClient:
    return TestClient(make_app(state, PORT), base_url=HERE)


@pytest.mark.parametrize(
    "path", ["/", "/runs/1", "/runs/1/report.html", "/static/page.js", "/nowhere"]
)
def test_nothing_is_shown_without_the_token(stranger: TestClient, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "reenact view printed" in answer.text


def test_the_token_opens_once_and_the_cookie_is_kept_from_scripts_and_other_sites(
    stranger: TestClient, state: AppState
) -> None:
    assert stranger.get("/enter?token=wrong").status_code == 403
    first = stranger.get(f"/enter?token={state.key.token}", follow_redirects=False)
    reported = first.headers["set-cookie"].lower()
    assert first.status_code == 303
    assert "httponly" in reported
    assert "samesite=strict" in reported
    assert stranger.get("/").status_code == 200
    other = TestClient(make_app(state, PORT), base_url=HERE)
    assert other.get(f"/enter?token={state.key.token}").status_code == 403
    assert other.get("/").status_code == 403


def test_the_same_browser_may_open_the_address_again(browser: TestClient) -> None:
    assert browser.get("/enter?token=used").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", ""])
def test_a_name_that_points_at_this_machine_is_refused(browser: TestClient, host: str) -> None:
    assert browser.get("/", headers={"host": host}).status_code == 400


def test_a_page_names_no_other_host_and_allows_none(
    browser: TestClient, ids: dict[str, str]
) -> None:
    answer = browser.get(f"/runs/{ids['diagnose']}")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "http" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert "<script>" not in answer.text
    assert not [word for word in answer.text.split() if "src=" in word and "//" in word]


@pytest.mark.parametrize("path", ["/new", "/runs/{}/stop", "/runs/{}/resume"])
def test_an_action_needs_the_word_of_our_own_form(
    browser: TestClient, ids: dict[str, str], path: str
) -> None:
    for fields in ({}, {"csrf": "guessed"}):
        answer = browser.post(
            path.format(ids["failed"]),
            data={"verb": "runs", "argument": "list", **fields},
        )
        assert answer.status_code == 404
        assert "earlier start" in answer.text


def test_a_form_of_another_site_is_refused_even_with_the_word(
    state: AppState, enter: Callable[[AppState], TestClient]
) -> None:
    client = enter(state)
    fields = {"csrf": state.key.csrf, "verb": "runs", "argument": "list"}
    answer = client.post("/new", data=fields, headers={"origin": "http://evil.example"})
    assert answer.status_code == 403
    assert state.jobs.all() == []


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.com//127.0.0.1:{port}",
        "http://127.0.0.1:{port}@evil.com",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.com",
        "127.0.0.1:{port}",
        "null",
    ],
)
def test_an_origin_is_compared_as_a_whole(
    origin: str, state: AppState, enter: Callable[[AppState], TestClient]
) -> None:
    client = enter(state)
    port = str(client.base_url.port)
    fields = {"csrf": state.key.csrf, "verb": "runs", "argument": "list"}
    answer = client.post("/new", data=fields, headers={"origin": origin.replace("{port}", port)})
    assert answer.status_code == 403
    own = client.post(
        "/new",
        data={**fields, "csrf": "guessed"},
        headers={"origin": f"http://127.0.0.1:{port}"},
    )
    assert own.status_code == 404, "our own origin passes, and the word of the form is looked at"


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"id": "x", "words": ["a"], "pid": -1, "born": 0, "run": 7}']
)
def test_planted_jobs_do_not_break_a_page(
    text: str,
    runs_dir: Path,
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    own = tmp_path / "runs"
    shutil.copytree(runs_dir, own)
    (own / "jobs").mkdir(exist_ok=True)
    (own / "jobs" / "x.json").write_text(text)
    client = enter(make_state(own))
    assert client.get("/").status_code == 200
    assert client.get("/started/x").status_code == 404
    assert client.get("/started/..%2f..%2fx").status_code == 404
