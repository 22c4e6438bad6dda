"""The benchmark of the static rules, small: it writes files, takes times, and judges them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.linting.measure import (
    FILES,
    LINT,
    RUFF,
    Timed,
    card,
    measure,
    programs,
    write_files,
)
from reenact.types import ExitCode, Progress, Stop

pytestmark = pytest.mark.release


def test_there_are_trainings_enough_to_be_no_single_case() -> None:
    texts = programs()
    assert len(texts) > 50
    assert any("import torch" in text for text in texts)
    assert any("keras" in text for text in texts)


def test_files_are_repeated_under_other_names_until_there_are_enough(
    tmp_path: Path,
) -> None:
    kinds = len(programs())
    lines = write_files(tmp_path, kinds + 3)
    written = sorted(tmp_path.iterdir())
    assert len(written) == kinds + 3
    assert written[0].read_text() == written[kinds].read_text()
    assert lines == sum(len(path.read_text().splitlines()) for path in written)


def test_it_times_whole_commands_and_judges_no_smaller_number() -> None:
    progress_seen: list[Progress] = []
    found = measure(tell=progress_seen.append, stop=Stop(), count=3, repeats=1)
    (table,) = found.tables
    assert [row[0] for row in table.rows][:2] == [LINT, "reenact --version"]
    assert table.title.startswith("3 files, ")
    assert progress_seen[0].note == LINT
    assert table.rows[0][3] != "0.00 s", "a command uses the processor"
    assert found.exit_code is ExitCode.INCONCLUSIVE


def test_the_goal_is_the_median_of_ours() -> None:
    quick, slow = (Timed(LINT, times, times) for times in ((0.9, 1.0, 9.0), (1.0, 3.0, 4.0)))
    ruff = Timed(RUFF, (0.1, 0.1, 0.2), (0.1, 0.1, 0.1))
    found = card([quick, ruff], files=FILES, lines=9, wanted=3)
    assert found.exit_code is ExitCode.OK
    assert found.figures == "100 files in 1.00 s, 10.0 times as long as `ruff check`"
    assert card([slow, ruff], files=FILES, lines=9, wanted=3).exit_code is ExitCode.FOUND
    assert card([quick], files=FILES, lines=9, wanted=3).tables[0].rows[0][-1] == "-"
    assert card([], files=FILES, lines=9, wanted=3).figures == "nothing measured"
