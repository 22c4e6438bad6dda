"""Each page shows what its pipeline stored, with the things its readers look for."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reenact.journal import Journal
from reenact.program.patch import Patch
from reenact.repairs.search_context import Evaluation
from reenact.report.views.repair import best_so_far
from reenact.web.state import AppState


def test_a_diagnosis_marks_the_source_and_leads_to_its_finding(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = browser.get(f"/runs/{ids['diagnose']}").text
    assert re.search(r'<a class="squiggle " href="#finding-0" title="UM005 [^"]+">10\.0</a>', page)
    assert 'id="source-0-L5"' in page
    assert 'href="#source-0-L5"' in page
    assert 'id="finding-0"' in page
    assert "proven, confirmed" in page
    assert "learning-rate = 0.001</dd>" in page
    assert "6 seeds, test_accuracy 0.303 +- 0.01 -&gt; 0.908 +- 0.015 (p=0.016)" in page
    assert "one batch was not tried" in page
    assert "What UM005 means" in page


def test_what_was_tried_is_drawn_a_dot_a_seed(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/runs/{ids['diagnose']}").text
    drawn = page[page.index("Before and after, one dot a seed") :].partition("</svg>")[0]
    assert drawn.count("<circle") == 12
    assert "changed: 0.9, 0.91, 0.92, 0.9, 0.89, 0.93" in drawn


def test_a_repair_shows_diff_test_search_and_smaller_changes(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = unescape(browser.get(f"/runs/{ids['repair']}").text)
    assert '<span class="add">+' in page
    assert "0.016" in page
    assert "98 %" in page
    assert "Best so far" in page
    assert "a trial" in page, "every trial is a dot"
    titles = re.findall(r"<figcaption>([^<]+)</figcaption>", page)
    assert titles == [
        "test_accuracy over 6 fresh seeds, a dot a seed",
        "loss",
        "Best so far: test_accuracy",
        "Trials",
    ]


def test_the_best_so_far_never_falls() -> None:
    looks = [
        Evaluation(Patch(()), score, 1, 1.0, spent)
        for spent, score in enumerate((0.3, 0.9, 0.5, 0.95))
    ]
    spent, best = best_so_far(looks, 1)
    assert best == sorted(best) == [0.3, 0.3, 0.9, 0.9, 0.9, 0.95]
    assert spent == sorted(spent)


def test_a_bug_shows_script_frames_seeds_and_every_attempt(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = unescape(browser.get(f"/runs/{ids['bug']}").text)
    assert '<tr class="error"><td>project</td>' in page
    assert "acme/losses.py:32" in page
    assert "ZeroDivisionError: division by zero" in page
    assert "Context 1, script 1: stopped at static analysis: line 1: No nothing." in page
    assert "Context 1, script 2: shows it in 1 of 1 runs" in page
    assert "9 lines, 3 after 7 runs" in page
    assert "no failure" in page
    assert "Must be seen: ZeroDivisionError" in page


def test_a_neutrality_graph_names_its_nodes(browser: TestClient, ids: dict[str, str]) -> None:
    page = browser.get(f"/runs/{ids['alternatives']}").text
    drawn = page[page.index("Neutrality graph") :].partition("</svg>")[0]
    assert drawn.count("<title>") == 4
    assert "2 alternatives" in page


OLD = {
    "strategy": "guided",
    "decision": "repaired",
    "sentence": "Repaired by 1 change.",
    "verdicts": [],
}
"""As version 0.1 stored a repair."""


@pytest.mark.parametrize("pipeline", ["diagnose", "repair", "bug", "alternatives", "paper"])
@pytest.mark.parametrize(
    "result", [{"verdict": 1}, {"nodes": "x"}, {"findings": [{"witnesses": []}]}, OLD]
)
def test_a_result_of_another_form_is_shown_as_it_stands(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
    pipeline: str,
    result: dict[str, object],
) -> None:
    folder = tmp_path / "runs"
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline=pipeline, request={}) as run,
    ):
        run.note("result", result)
        run.finish({"verdict": "odd"})
    page = enter(make_state(folder)).get(f"/runs/{run.record.id}")
    assert page.status_code == 200
    assert "has not the form" in page.text


def test_a_run_without_a_result_shows_its_verdict_and_request(
    browser: TestClient, ids: dict[str, str]
) -> None:
    page = unescape(browser.get(f"/runs/{ids['rehearsal']}").text)
    assert '"verdict": "fine"' in page
