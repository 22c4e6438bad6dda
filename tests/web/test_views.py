"""Each story's page says what its story stored, with the things its readers look for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reenact.journal import Journal
from reenact.web.desk import Desk


def figures(page: str) -> list[dict[str, object]]:
    return [json.loads(unescape(text)) for text in re.findall(r'data-figure="([^"]+)"', page)]


def test_a_diagnosis_marks_the_source_and_leads_to_its_finding(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = browser.get(f"/runs/{ids['diagnose']}").text
    assert re.search(r'<a class="squiggle " href="#finding-0" title="UM005 [^"]+">10\.0</a>', page)
    assert 'id="source-0-L5"' in page
    assert 'href="#source-0-L5"' in page
    assert 'id="finding-0"' in page
    assert "confidence 0.97, confirmed" in page
    assert "learning-rate = 0.001: test_accuracy 0.3033 ± 0.01 -&gt; 0.9083 ± 0.015 (6 seeds, p=0.016" in page
    assert "one batch was not tried" in page
    assert "What UM005 means" in page


def test_what_was_tried_is_drawn_as_distributions(browser: TestClient, ids: dict[str, str]) -> None:
    boxes = figures(browser.get(f"/runs/{ids['diagnose']}").text)[0]["data"]
    assert isinstance(boxes, list)
    assert [one["type"] for one in boxes] == ["box", "box"]
    assert boxes[1]["x"] == [0.9, 0.91, 0.92, 0.9, 0.89, 0.93]


def test_a_repair_shows_diff_test_search_and_smaller_changes(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = unescape(browser.get(f"/runs/{ids['repair']}").text)
    assert '<span class="add">+' in page
    assert "0.016" in page
    assert "98 %" in page
    assert "Best so far" in page
    titles = re.findall(r"<figcaption>([^<]+)</figcaption>", page)
    assert titles == [
        "test_accuracy over 6 fresh seeds, a dot a seed", "loss", "Best so far: test_accuracy",
    ]  # fmt: skip


def test_the_best_so_far_never_falls(browser: TestClient, ids: dict[str, str]) -> None:
    drawn = figures(browser.get(f"/runs/{ids['repair']}").text)[2]["data"]
    assert isinstance(drawn, list)
    best = drawn[0]["y"]
    assert best == sorted(best)
    assert best[-1] == 0.9


def test_a_bug_shows_script_frames_seeds_and_every_attempt(browser: TestClient, ids: dict[str, str]) -> None:
    page = unescape(browser.get(f"/runs/{ids['bug']}").text)
    assert '<li class="project">' in page
    assert "acme/losses.py:32" in page
    assert "ZeroDivisionError: division by zero" in page
    assert "Context 1, script 1: stopped at static analysis: line 1: No nothing." in page
    assert "Context 1, script 2: shows it in 1 of 1 runs" in page
    assert "9 lines, 3 after 7 runs" in page
    assert "no failure" in page
    assert "Must be seen: ZeroDivisionError" in page


def test_a_neutrality_graph_zooms_and_names_its_nodes(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/runs/{ids['neutral']}").text
    (figure,) = figures(page)
    assert figure["zooms"]
    assert "2 alternatives" in page


@pytest.mark.parametrize("story", ["diagnose", "repair", "bug", "neutral", "paper"])
@pytest.mark.parametrize("result", [{"verdict": 1}, {"nodes": "x"}, {"findings": [{"witnesses": []}]}])
def test_a_result_of_another_form_is_shown_as_it_stands(
    tmp_path: Path,
    make_desk: Callable[[Path], Desk],
    enter: Callable[[Desk], TestClient],
    story: str,
    result: dict[str, object],
) -> None:
    folder = tmp_path / "runs"
    with Journal.open(folder) as journal, journal.run(story=story, request={}) as run:
        run.note("result", result)
        run.finish({"verdict": "odd"})
    page = enter(make_desk(folder)).get(f"/runs/{run.record.id}")
    assert page.status_code == 200
    assert "has not the form" in page.text


def test_a_run_without_a_result_shows_its_verdict_and_request(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = unescape(browser.get(f"/runs/{ids['rehearsal']}").text)
    assert '"verdict": "fine"' in page
