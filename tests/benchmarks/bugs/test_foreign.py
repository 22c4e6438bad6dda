"""Bugs of strangers: facts in the tree, code and words from elsewhere, and nothing left out in
silence.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.bugs.card import scorecard
from benchmarks.bugs.foreign import MANIFEST, load_foreign
from benchmarks.bugs.variant import WHOLE
from benchmarks.command import bench
from benchmarks.results import files_identity
from reenact.errors import Inconclusive, InputError
from reenact.llm.recording import read_recording

pytestmark = pytest.mark.release


def test_the_manifest_holds_facts_alone() -> None:
    listed = json.loads(MANIFEST.read_text())
    assert len(listed) >= 10
    assert len({one["id"] for one in listed}) == len(listed)
    assert len({one["repository"] for one in listed}) >= 4
    cases = load_foreign()
    assert [case.id for case in cases] == [one["id"] for one in listed]
    assert all(case.source.startswith("https://") and case.fixed != case.buggy for case in cases)


def test_recordings_hold_no_words_and_no_code_of_strangers() -> None:
    files = list(MANIFEST.parent.glob("*/recording*.jsonl"))
    assert files
    for file in files:
        assert all("parts" not in one and "system" not in one for one in read_recording(file)), file


def test_what_cannot_be_had_is_named_and_ends_the_run(tmp_path: Path) -> None:
    first = json.loads(MANIFEST.read_text())[0]
    with pytest.raises(Inconclusive, match=first["repository"]):
        load_foreign([first["id"]], mirrors=tmp_path)
    mirror = tmp_path / first["repository"].replace("/", "+") / "repo"
    mirror.mkdir(parents=True)
    (mirror / "HEAD").write_text("ref: refs/heads/main\n")
    assert load_foreign([first["id"]], mirrors=tmp_path)[0].source == str(mirror)
    with pytest.raises(Inconclusive, match=f"#{first['issue']}"):
        load_foreign([first["id"]], mirrors=tmp_path, reports=tmp_path)
    with pytest.raises(InputError, match="nobody"):
        load_foreign(["nobody"])


def test_exit_code_of_the_command(tmp_path: Path) -> None:
    done = CliRunner().invoke(bench, ["bugs", "--foreign", "--mirrors", str(tmp_path)])
    assert isinstance(done.exception, Inconclusive)
    assert done.exception.exit_code == 3


def test_their_results_file_is_not_that_of_our_own_cases() -> None:
    card = scorecard(load_foreign(), (WHOLE,), [])
    assert card.name == "bugs-foreign"
    assert card.cases == files_identity("foreign-bugs") != files_identity("bugs")
