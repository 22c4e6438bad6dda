from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from reenact.report import progress as progress_module
from reenact.report.progress import Lines, clock, line_text, telling
from reenact.types import Progress
from terminals import run_on_terminal
from waiting import wait_until

TRAINING = Progress(
    "training",
    done=6,
    total=200,
    note="epoch 7/200, step 551, loss 0.075, about 73 min left",
    values=(4.0, 3.0, 2.0, 1.0),
    left=4380.0,
)


def test_lines_come_at_most_once_in_a_pause(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for done in range(101):
        lines(Progress("trials", done, 100, note="best 0.9"))
        lines(Progress("other", note=f"thing {done}"))
    lines.close()
    output = capsys.readouterr()
    assert output.err.splitlines() == ["trials 0/100  best 0.9"]
    assert output.out == ""


def test_the_newest_is_printed_when_the_pause_is_over(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "LINE_EVERY_S", 0.3)
    lines = Lines()
    for note in ("full run 1 of 3", "full run 2 of 3", "full run 3 of 3"):
        lines(Progress("paper", note=note))
    shown: list[str] = []

    def both() -> bool:
        shown.extend(capsys.readouterr().err.splitlines())
        return len(shown) >= 2

    wait_until(both, "the second line")
    lines.close()
    assert shown == ["paper  full run 1 of 3", "paper  full run 3 of 3"]


def test_none_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with telling("none") as tell:
        tell(Progress("trials", 1, 2))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("how", ["auto", "bar", "lines"])
def test_what_is_no_terminal_gets_plain_lines_on_stderr(
    how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with telling(how) as tell:
        tell(Progress("trials", 1, 2, note="[bold]not markup[/bold]"))
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "trials 1/2  [bold]not markup[/bold]\n"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            200,
            "training  ━───────────────────  █▆▃▁  epoch 7/200, step 551, loss 0.075  1:13:00 left",
        ),
        (80, "training  █▆▃▁  epoch 7/200, step 551, loss 0.075  1:13:00 left"),
        (60, "training  epoch 7/200, step 551, loss 0.075  1:13:00 left"),
        (52, "epoch 7/200, step 551, loss 0.075  1:13:00 left"),
        (40, "epoch 7/200, step 551  1:13:00 left"),
        (30, "epoch 7/200  1:13:00 left"),
        (24, "1:13:00 left"),
        (14, "1:13:00 left"),
    ],
)
def test_of_what_does_not_fit_the_time_stays(columns: int, expected: str) -> None:
    assert line_text(TRAINING, columns, elapsed=12.0) == expected


def test_no_width_lets_the_line_wrap_or_lose_the_time() -> None:
    for columns in range(14, 201):
        text = line_text(TRAINING, columns, elapsed=12.0)
        assert len(text) < columns
        assert text.endswith("1:13:00 left")


def test_the_time_left_follows_from_a_count_or_is_replaced_by_the_time_so_far() -> None:
    half = Progress("trials", 5, 20, "best 0.9")
    assert line_text(half, 60, elapsed=10.0).endswith("5/20, best 0.9  0:30 left")
    # It goes down while nothing new is reported.
    assert line_text(half, 60, elapsed=14.0, since=4.0).endswith("0:26 left")
    # Of the first count nothing is known, and the stages of a command take different times.
    assert line_text(half, 60, elapsed=0.0, done_before=5).endswith("0:00 so far")
    assert line_text(Progress("paper", 3, 6), 60, elapsed=60.0).endswith("3/6  1:00 so far")
    unknown = Progress("environment", note="installs torch")
    assert line_text(unknown, 60, elapsed=65.0) == "environment  installs torch  1:05 so far"


def test_a_name_from_outside_cannot_move_the_cursor() -> None:
    shown = line_text(Progress("trials", note="\x1b[2Jevil\nname 漢字漢字漢字"), 30, elapsed=1.0)
    assert "\x1b" not in shown
    assert "\n" not in shown


def test_a_sentence_is_cut_where_it_does_not_fit() -> None:
    stage = Progress("diagnose", 3, 5, "verify over up to 10 fresh seeds: lr 8 -> 0.01")
    assert (
        line_text(stage, 60, elapsed=5.0)
        == "3/5, verify over up to 10 fresh seeds: lr 8 -…  0:05 so far"
    )


def test_a_clock() -> None:
    assert [clock(seconds) for seconds in (0, 65, 3600 * 3 + 131)] == [
        "0:00",
        "1:05",
        "3:02:11",
    ]


DRAWS = """
import time
from reenact.report.progress import telling
from reenact.types import Progress
with telling("auto") as tell:
    tell(Progress("training", 3, 8, "epoch 4/8, loss 0.5, about 12 s left", (4.0, 3.0, 2.0, 1.0), left=12.0))
"""


def test_on_a_terminal_the_loss_is_drawn_beside_the_bar(tmp_path: Path) -> None:
    ran = run_on_terminal([sys.executable, "-c", DRAWS], columns=120)
    shown: list[str] = []
    ended = ran.replay()
    for count in range(len(ran.pieces)):
        shown.append(b"".join(ran.pieces[: count + 1]).decode(errors="replace"))
    assert re.search(r"━+─+  █▆▃▁  epoch 4/8, loss 0.5  0:12 left", shown[-1])
    assert [row for row in ended.all_rows if row] == []


def test_a_terminal_without_cursor_movements_gets_lines() -> None:
    ran = run_on_terminal([sys.executable, "-c", DRAWS], columns=120, environment={"TERM": "dumb"})
    assert [row for row in ran.replay().all_rows if row] == [
        "training 3/8  epoch 4/8, loss 0.5, about 12 s left"
    ]
