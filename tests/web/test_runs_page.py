"""The list of runs: search, filter, pages, empty states, two runs side by side."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from benchmarks.web.measure import write_journal
from reenact.journal import Journal
from reenact.web.render import shortened
from reenact.web.state import AppState


def test_every_run_is_listed_with_status_and_verdict(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get("/").text
    for run in ids.values():
        assert f'href="/runs/{run}"' in page
    assert page.count('id="open-') == len(ids)
    assert "repair is done" in page
    assert "RuntimeError: no luck" in page
    assert '<span class="status failed">' in page
    assert f"{len(ids)} runs" in page


def test_words_of_a_program_are_never_markup(browser: TestClient) -> None:
    page = browser.get("/").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize(
    ("asked", "shown", "hidden"),
    [
        ("q=reHEARsal", "rehearsal", "bug"),
        ("pipeline=bug", "bug", "repair"),
        ("status=failed", "failed", "bug"),
        ("status=finished&pipeline=repair", "repair", "failed"),
    ],
)
def test_a_search_and_a_filter_leave_what_fits(
    browser: TestClient, ids: dict[str, str], asked: str, shown: str, hidden: str
) -> None:
    page = browser.get(f"/?{asked}").text
    assert f'href="/runs/{ids[shown]}"' in page
    assert f'href="/runs/{ids[hidden]}"' not in page


def test_nothing_found_says_how_to_see_all(browser: TestClient) -> None:
    page = browser.get("/?q=no+such+run").text
    assert "No run is like that" in page
    assert 'href="/"' in page


def test_a_folder_without_runs_says_what_to_do(
    tmp_path: Path, make_state: Callable[[Path], AppState], enter: Callable[[AppState], TestClient]
) -> None:
    page = enter(make_state(tmp_path / "none")).get("/").text
    assert "reenact diagnose train.py" in page
    assert "--runs FOLDER" in page


def test_many_runs_come_in_pages(
    tmp_path: Path, make_state: Callable[[Path], AppState], enter: Callable[[AppState], TestClient]
) -> None:
    write_journal(tmp_path / "many", [1] * 120)
    client = enter(make_state(tmp_path / "many"))
    assert "page 1 of 3" in client.get("/").text
    last = client.get("/?page=3").text
    assert 'href="/runs/260101-000001"' in last
    assert 'href="/runs/260101-000120"' not in last
    assert "Older" not in last
    assert client.get("/?page=x").status_code == 200


def test_an_interrupted_run_differs_from_one_at_work(
    tmp_path: Path, make_state: Callable[[Path], AppState], enter: Callable[[AppState], TestClient]
) -> None:
    folder = tmp_path / "live"
    with Journal.open(folder) as journal, journal.run(pipeline="repair", request={}, what="here") as run:
        client = enter(make_state(folder))
        assert run.record.id in client.get("/?status=running").text
        assert f'href="/runs/{run.record.id}"' not in client.get("/?status=interrupted").text


def test_two_runs_stand_side_by_side(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/compare?run={ids['repair']}&run={ids['failed']}").text
    assert f"{ids['repair']} beside {ids['failed']}" in page
    assert 'class="differs"' in page
    assert "+ &quot;of&quot;: &quot;no&quot;" in page.replace("+  ", "+ ")
    assert "The change" in page


def test_a_comparison_leads_to_the_rows_it_names(browser: TestClient, ids: dict[str, str]) -> None:
    left = ids["diagnose"]
    page = browser.get(f"/compare?run={left}&run={left}").text
    places = re.findall(r' id="([^"]+)"', page)
    assert len(places) == len(set(places)), "a place is there twice"
    assert {"fact-verdict", "asked", "findings", "left-finding-0", "right-finding-0"} <= set(places)
    led = re.findall(r'href="#([^"]+)"', page)
    assert {"left-finding-0", "right-source-0-L5", "findings", "fact-steps"} <= set(led)
    assert set(led) <= set(places), "a link leads nowhere"
    for place in ("findings", "steps"):
        assert f'href="/runs/{left}#{place}"' in page
        assert f' id="{place}"' in browser.get(f"/runs/{left}").text


def test_what_only_one_of_two_runs_has_is_named_as_its_own(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/compare?run={ids['diagnose']}&run={ids['rehearsal']}").text
    assert f'<a href="/runs/{ids["diagnose"]}#findings">only in {ids["diagnose"]}</a>' in page
    assert f'href="/runs/{ids["rehearsal"]}#talk"' in page, "what a model cost leads to what it was asked"
    places = re.findall(r' id="([^"]+)"', page)
    assert len(places) == len(set(places))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(places)


def test_long_hashes_of_steps_are_cut_and_whole_when_pointed_at() -> None:
    path = f"repair/trials/{'0c' * 32}/seed-1"
    assert shortened(path) == "repair/trials/0c0c0c0c0c…/seed-1"
    assert shortened("bug/context[0]/attempt[1]") == "bug/context[0]/attempt[1]"


def test_one_run_cannot_be_compared(browser: TestClient, ids: dict[str, str]) -> None:
    answer = browser.get(f"/compare?run={ids['repair']}")
    assert answer.status_code == 404
    assert "Tick two" in answer.text
