"""One Optuna study in a database, several drivers; its address is a secret."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import optuna
import pytest
from click.testing import CliRunner

from reenact.cli.doctor import config
from reenact.errors import MissingPart, Unreachable
from reenact.probe.injected import environment
from reenact.probe.options import WatchOptions
from reenact.redact import redact
from reenact.repairs.shared_study import SharedStudy
from reenact.repairs.strategies.strategy import strategy
from reenact.repairs.study import recorder_of
from reenact.testing.strategy import rate_decides, search_context
from reenact.trials.job import around
from waiting import LONGEST_S
from warm import warm_python_of_commands

BOTH = ["random", pytest.param("bohb", marks=pytest.mark.slow)]
DRIVER = """
import sys
from reenact.repairs.strategies.strategy import strategy
from reenact.repairs.shared_study import SharedStudy
from reenact.testing.strategy import rate_decides, search_context

url, owner, name, budget = sys.argv[1:]
context = search_context(rate_decides, budget=budget, strategy=name).context
context.shared_study = SharedStudy(url, "ours", owner)
strategy(name).search(context)
"""
SECRET = "postgresql://ann:hunter2hunter2@db.example/studies"


def drive(
    url: str, owner: str, name: str = "random", budget: str = "6t"
) -> subprocess.Popen[bytes]:
    words = [warm_python_of_commands(), "-c", DRIVER, url, owner, name, budget]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def trials_in(url: str) -> list[optuna.trial.FrozenTrial]:
    return optuna.load_study(study_name="ours", storage=url).get_trials()


@pytest.mark.release
@pytest.mark.parametrize("name", BOTH)
def test_two_drivers_fill_one_study(tmp_path: Path, name: str) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    for driver in [drive(url, "one", name), drive(url, "two", name)]:
        output, _ = driver.communicate(timeout=LONGEST_S)
        assert driver.returncode == 0, output
    found = trials_in(url)
    assert {one.user_attrs["run"] for one in found} == {"one", "two"}
    assert all(one.state.is_finished() for one in found)
    drawn = [
        tuple(one.params.values()) for one in found if not one.system_attrs.get("fixed_params")
    ]
    assert len(set(drawn)) == len(drawn), "drivers that share a study do not propose the same"


def searched(url: str, owner: str, name: str = "random") -> list[str]:
    given = search_context(rate_decides, budget="6t", strategy=name)
    given.context.shared_study = SharedStudy(url, "ours", owner)
    strategy(name).search(given.context)
    return [str(one.patch) for one in given.context.evaluations]


@pytest.mark.release
@pytest.mark.parametrize("name", BOTH)
def test_a_run_that_continues_tells_its_own_trials_again(tmp_path: Path, name: str) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    first = searched(url, "one", name)
    before = trials_in(url)
    study = optuna.load_study(study_name="ours", storage=url)
    study.ask()
    assert searched(url, "one", name) == first
    assert [one for one in trials_in(url) if one.user_attrs.get("run") == "one"] == before
    assert trials_in(url)[-1].state is optuna.trial.TrialState.RUNNING, (
        "that of another driver is left alone"
    )


@pytest.mark.release
def test_a_trial_that_was_open_when_the_run_was_killed_is_reported(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    other = optuna.storages.RDBStorage(url)
    searched(url, "one")
    study = optuna.load_study(study_name="ours", storage=other)
    (*_, last) = study.get_trials()
    open_one = study.ask(fixed_distributions=last.distributions)
    open_one.set_user_attr("run", "two")
    searched(url, "two")
    assert trials_in(url)[open_one.number].state is optuna.trial.TrialState.COMPLETE


def test_a_strategy_without_a_sampler_writes_each_look_once(tmp_path: Path) -> None:
    shared = SharedStudy(f"sqlite:///{tmp_path / 'studies.db'}", "ours", "one")
    given = search_context(rate_decides)
    given.context.base()
    (look,) = given.context.evaluations
    for _ in range(2):
        write = recorder_of(None, "x", shared)
        write(look)
        write(look)
    assert len(trials_in(shared.url)) == 2


def test_the_address_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REENACT_STUDY_URL", SECRET)
    monkeypatch.chdir(tmp_path)
    shared = SharedStudy(SECRET, "ours", "one")
    assert str(shared) == "ours in postgresql on db.example"
    assert "hunter2" not in repr(shared)
    for form in ("full", "json"):
        output = CliRunner().invoke(config, ["--output-format", form]).output
        assert "study_url" in output
        assert "hunter2" not in output
        assert "db.example" not in output
    assert SECRET not in redact(f"it is {SECRET}")
    assert "REENACT_STUDY_URL" not in around(tmp_path)
    watched = environment(WatchOptions(folder=tmp_path), {"REENACT_STUDY_URL": SECRET})
    assert SECRET not in str(watched)


@pytest.mark.parametrize("url", ["sqlite:////nowhere/at/all.db", "not an address:hunter2hunter2"])
def test_a_database_that_cannot_be_used_is_named_without_its_address(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reenact.repairs.study.PAUSE_S", 0.0)
    with pytest.raises((Unreachable, MissingPart)) as caught:
        recorder_of(None, "x", SharedStudy(url, "ours", "one"))
    shown: Any = caught.value
    assert url not in f"{shown.sentence} {shown.next_step}"
    assert "hunter2" not in f"{shown.sentence} {shown.next_step}"
    assert shown.__cause__ is None
