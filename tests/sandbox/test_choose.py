from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError, SandboxUnavailable
from reenact.sandbox import choose as choosing
from reenact.sandbox.choose import choose, describe, notice
from reenact.sandbox.tiers.bubblewrap import Bubblewrap


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine whose PATH holds no launcher and no engine."""
    monkeypatch.setenv("PATH", str(tmp_path))


def test_the_best_that_works_is_chosen_and_needs_no_word() -> None:
    if Bubblewrap().missing():
        pytest.skip("bubblewrap does not work here")
    sandbox = choose()
    assert sandbox.name == "bubblewrap"
    assert notice(sandbox) == ""


@pytest.mark.usefixtures("nothing_installed")
def test_without_any_the_sentence_says_what_is_missing_and_what_to_do() -> None:
    with pytest.raises(SandboxUnavailable, match="No sandbox works") as refused:
        choose()
    assert "bubblewrap is not installed" in refused.value.sentence
    assert "No container engine" in refused.value.sentence
    assert "apt install bubblewrap" in refused.value.next_step


@pytest.mark.usefixtures("nothing_installed")
def test_without_any_trusted_code_runs_unprotected_and_the_user_is_told() -> None:
    sandbox = choose(trust_code=True)
    assert sandbox.name == "none"
    assert "It does not stop: reading, changing" in notice(sandbox)
    assert "bubblewrap is not installed" in notice(sandbox)


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize("name", ["bubblewrap", "container", "docker", "podman"])
def test_one_that_was_named_and_is_missing_is_never_replaced(name: str) -> None:
    with pytest.raises(SandboxUnavailable, match=f"{name} was asked for and does not work here"):
        choose(name, trust_code=True)


def test_no_sandbox_needs_the_users_word() -> None:
    with pytest.raises(SandboxUnavailable):
        choose("none")
    assert choose("none", trust_code=True).name == "none"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="sandbox='jail'") as refused:
        choose("jail")
    assert all(name in refused.value.next_step for name in choosing.NAMES)


def test_the_doctors_report_covers_every_tier() -> None:
    reports = {report.name: report for report in describe()}
    assert list(reports) == ["bubblewrap", "container", "sandlock", "none"]
    assert all(bool(report.missing) != report.works for report in reports.values())
    assert all(report.does_not_stop for report in reports.values())
    assert sum(report.chosen for report in reports.values()) <= 1
    assert not reports["sandlock"].chosen
    assert not reports["none"].chosen
    if reports["bubblewrap"].works:
        assert reports["bubblewrap"].chosen
