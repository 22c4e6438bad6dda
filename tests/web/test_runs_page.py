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


def test_every_run_is_listed_with_status_and_verdict(
    browser: TestClient, ids: dict[str, str]
) -> None:
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
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    page = enter(make_state(tmp_path / "none")).get("/").text
    assert "reenact diagnose train.py" in page
    assert "--runs FOLDER" in page


def test_many_runs_come_in_pages(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
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
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    folder = tmp_path / "live"
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="repair", request={}, what="here") as run,
    ):
        client = enter(make_state(folder))
        assert run.record.id in client.get("/?status=running").text
        assert f'href="/runs/{run.record.id}"' not in client.get("/?status=interrupted").text


def test_two_runs_stand_side_by_side(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/compare?run={ids['repair']}&run={ids['failed']}").text
    assert f"{ids['repair']} and {ids['failed']}" in page
    assert 'class="differs"' in page
    assert '<tr class="differs"><td>of</td><td>repair</td><td>no</td></tr>' in page
    assert "The change" in page


def test_a_comparison_has_no_row_for_what_nobody_asked_for_and_short_hashes(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> None:
    asked = (
        {"program": "a" * 64, "select": [], "seed": 0},
        {"program": "b" * 64, "learned": False},
    )
    with Journal.open(tmp_path / "two") as journal:
        for request in asked:
            with journal.run(pipeline="diagnose", request=request) as run:
                run.finish({"verdict": "no fault found"})
    page = enter(make_state(tmp_path / "two")).get("/compare?run=1&run=2").text
    assert f"<td>{'a' * 12}</td><td>{'b' * 12}</td>" in page
    assert "<td>seed</td><td>0</td><td>-</td>" in page
    assert "<td>select</td>" not in page
    assert "<td>learned</td>" not in page


def test_a_comparison_leads_to_the_rows_it_names(browser: TestClient, ids: dict[str, str]) -> None:
    left = ids["diagnose"]
    page = browser.get(f"/compare?run={left}&run={left}").text
    places = re.findall(r' id="([^"]+)"', page)
    assert len(places) == len(set(places)), "a place is there twice"
    assert {
        "fact-verdict",
        "trainings",
        "findings",
        "run-1-finding-0",
        "run-2-finding-0",
    } <= set(places)
    led = re.findall(r'href="#([^"]+)"', page)
    assert {"run-1-finding-0", "run-2-source-0-L5", "findings", "fact-steps"} <= set(led)
    assert set(led) <= set(places), "a link leads nowhere"
    for place in ("findings", "steps"):
        assert f'href="/runs/{left}#{place}"' in page
        assert f' id="{place}"' in browser.get(f"/runs/{left}").text


def test_what_only_one_of_two_runs_has_is_named_as_its_own(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = browser.get(f"/compare?run={ids['diagnose']}&run={ids['rehearsal']}").text
    assert f'<a href="/runs/{ids["diagnose"]}#findings">only in {ids["diagnose"]}</a>' in page
    assert f'href="/runs/{ids["rehearsal"]}#talk"' in page, (
        "what a model cost leads to what it was asked"
    )
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
    assert "Two to 8 runs" in answer.text
    many = "&".join(f"run={ids['repair']}" for _ in range(9))
    assert browser.get(f"/compare?{many}").status_code == 404


def test_any_number_of_runs_stand_side_by_side(browser: TestClient, ids: dict[str, str]) -> None:
    chosen = [ids[one] for one in ("diagnose", "repair", "bug", "alternatives")]
    page = browser.get("/compare?" + "&".join(f"run={one}" for one in chosen)).text
    assert " and ".join(chosen) in page
    asked = page.partition('id="asked"')[2].partition("</section>")[0]
    assert re.findall(r"<td[^>]*>([^<]+)</td>", asked) == [
        "of",
        "diagnose",
        "repair",
        "bug",
        "alternatives",
    ]
    assert 'class="many"' in asked, "on a narrow screen each row is a card"
    places = re.findall(r' id="([^"]+)"', page)
    assert len(places) == len(set(places))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(places)


def test_trainings_that_are_compared_have_their_curves_in_one_plot_and_their_findings_in_one_table(
    browser: TestClient, ids: dict[str, str]
) -> None:
    one = ids["diagnose"]
    page = browser.get(f"/compare?run={one}&run={one}&run={ids['repair']}").text
    trainings = page.partition('id="trainings"')[2].partition("</section>")[0]
    assert trainings.count("<svg") == 2, "the loss and a metric that two of them have"
    found = page.partition('id="found"')[2].partition("</section>")[0]
    assert "UM005 learning-rate-high train.py:5:53" in found
    assert 'class="differs"' in found, "the repair has no such finding"


def order_of(client: TestClient, asked: str) -> list[str]:
    return re.findall(r'id="open-([^"]+)"', client.get(f"/?{asked}").text)


def test_the_list_is_sorted_by_any_column_both_ways_without_scripts(
    browser: TestClient, ids: dict[str, str]
) -> None:
    newest = order_of(browser, "")
    assert order_of(browser, "sort=started") == newest[::-1]
    assert order_of(browser, "sort=no+such+thing") == newest
    commands = re.findall(
        r"<td>(\w+)</td>\n<td class=\"what\">", browser.get("/?sort=command").text
    )
    assert commands == sorted(commands)
    page = browser.get("/?sort=command").text
    assert 'aria-sort="ascending"><a href="/?sort=-command">Command</a>' in page
    assert 'aria-sort="descending"><a href="/?sort=command">' in browser.get("/?sort=-command").text


def test_runs_are_filtered_by_verdict(browser: TestClient, ids: dict[str, str]) -> None:
    assert "<option>bug is done</option>" in browser.get("/").text
    assert order_of(browser, "verdict=bug+is+done") == [ids["bug"]]
    assert order_of(browser, "verdict=bug+is+done&pipeline=repair") == []
