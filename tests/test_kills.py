"""Some of the kills of scripts/kills.py: each command, killed at random moments, ends as if
undisturbed.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import kills
import pytest
from click.testing import CliRunner

pytestmark = pytest.mark.usefixtures("warm_python")

KILLS = [("diagnose", 1), ("paper", 1)]
MORE = [
    pytest.param(name, count, marks=pytest.mark.slow)
    for name, count in (("repair", 1), ("bug", 1), ("bug", 4), ("paper", 4))
]


def series(folder: Path, name: str, count: int) -> kills.Series:
    return kills.Series(
        kills.CASES[name], kills.State.open(folder / "state.jsonl"), count, 0, print
    )


@pytest.mark.release
@pytest.mark.parametrize(("name", "count"), [*KILLS, *MORE])
def test_killed_it_ends_as_if_undisturbed(name: str, count: int, tmp_path: Path) -> None:
    row = series(tmp_path, name, count).run()
    assert row.problems == ()
    assert row.kills == count
    assert row.ends >= 1
    again = series(tmp_path, name, count)
    assert again.run() == row, "what the state file has is not done again"
    assert [path.name for path in tmp_path.iterdir()] == ["state.jsonl"]


def test_a_result_unlike_the_reference_and_a_process_left_are_problems(
    tmp_path: Path,
) -> None:
    usual = kills.CASES["diagnose"]
    quick = replace(usual, words=("diagnose", "--depth", "static", *usual.words[-1:]))
    read = kills.Series(quick, kills.State.open(tmp_path / "state.jsonl"), 1, 0, print)
    wrong = {"code": quick.code, "verdict": "Nothing was found.", "facts": {}}
    read.state.add(event="reference", case=quick.name, seconds=1.0, outcome=wrong, problems=[])
    read.state.add(event="kill", case=quick.name, series=0, at=0.1, left=["python server.py"])
    row = read.run()
    assert [problem.split(" is ")[0] for problem in row.problems[:2]] == [
        "facts",
        "verdict",
    ]
    assert row.problems[-1] == "left behind after a kill: python server.py"
    assert (
        next(line for line in kills.table([row]) if line.startswith(quick.name)).split()[3] == "no"
    )


def test_what_left_the_process_group_is_found_and_ended(tmp_path: Path) -> None:
    place = kills.Place(tmp_path)
    stray = subprocess.Popen(["sleep", "600"], env=place.environment(), start_new_session=True)
    assert [process.pid for process in place.processes()] == [stray.pid]
    assert kills.end_all(place, [], 0.0) == ["sleep 600"]
    assert stray.wait() == -9


def test_a_torn_line_of_the_state_counts_as_not_written(tmp_path: Path) -> None:
    file = tmp_path / "state.jsonl"
    kills.State.open(file).add(event="begin", kills=8, seed=0)
    whole = file.read_text()
    file.write_text(whole + '{"event": "ki')
    state = kills.State.open(file)
    assert state.events == [{"event": "begin", "kills": 8, "seed": 0}]
    assert file.read_text() == whole


def test_the_state_of_other_kills_is_refused_and_a_failing_reference_ends_with_3(
    tmp_path: Path,
) -> None:
    file = tmp_path / "state.jsonl"
    kills.State.open(file).add(event="begin", kills=8, seed=0)
    ended = CliRunner().invoke(kills.main, ["--kills", "9", "--state", str(file)])
    assert ended.exit_code == 2
    assert "--kills 8 --seed 0" in ended.output
    broken = kills.Case("paper", ("paper", "gone.md"), 0, 1.0, lambda result: {})
    with pytest.raises(kills.NotPossible, match=r"code=2, expected 0"):
        kills.Series(broken, kills.State(file), 1, 0, print).reference()


def test_moments_depend_on_the_seed_alone_and_lie_within_the_run() -> None:
    first = [kills.moment(0, "bug", number, 8.0) for number in range(50)]
    assert first == [kills.moment(0, "bug", number, 8.0) for number in range(50)]
    assert first != [kills.moment(1, "bug", number, 8.0) for number in range(50)]
    assert 0 <= min(first) < 2
    assert 6 < max(first) <= 8
