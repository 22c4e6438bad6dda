from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import pytest

from reenact.errors import SettingsError
from reenact.settings import Resolved, Settings, field_texts, find_project_file, resolve


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    (tmp_path / "user.toml").write_text(
        'model = "ollama:user"\nmax_calls = 1\nmax_time = 1\nmax_tokens = 1\n'
    )
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reenact]\nmodel = "ollama:project"\nmax-calls = 2\nmax_time = 2\n'
    )
    return tmp_path


def resolved(folder: Path, flags: dict[str, object] | None = None, **environ: str) -> Resolved:
    return resolve(flags, cwd=folder, environ=environ, user_file=folder / "user.toml")


def test_a_nearer_layer_wins_and_says_where_it_came_from(layers: Path) -> None:
    got = resolved(layers, {"model": "ollama:flag"}, REENACT_MODEL="ollama:env", REENACT_MAX_CALLS="3")
    assert (got.settings.model, got.origins["model"]) == ("ollama:flag", "flag")
    assert (got.settings.max_calls, got.origins["max_calls"]) == (3, "environment REENACT_MAX_CALLS")
    assert (got.settings.max_time, got.origins["max_time"]) == (
        2.0,
        f"project file {layers / 'pyproject.toml'}",
    )
    assert (got.settings.max_tokens, got.origins["max_tokens"]) == (1, f"user file {layers / 'user.toml'}")
    assert (got.settings.progress, got.origins["progress"]) == ("auto", "default")


def test_a_flag_that_was_not_given_does_not_count(layers: Path) -> None:
    assert resolved(layers, {"model": None}).settings.model == "ollama:project"


def test_money_is_exact(layers: Path) -> None:
    assert resolved(layers, REENACT_MAX_COST="0.10").settings.max_cost == Decimal("0.10")


def test_a_list_in_the_environment_is_split_at_commas(layers: Path) -> None:
    assert resolved(layers, REENACT_ALLOW_PACKAGES="numpy,scipy").settings.allow_packages == (
        "numpy",
        "scipy",
    )


def test_the_nearest_project_file_is_found_from_below(layers: Path) -> None:
    below = layers / "a" / "b"
    below.mkdir(parents=True)
    assert find_project_file(below) == layers / "pyproject.toml"
    (layers / "a" / "reenact.toml").write_text("")
    assert find_project_file(below) == layers / "a" / "reenact.toml"


def test_an_unknown_name_suggests_the_near_one(layers: Path) -> None:
    with pytest.raises(SettingsError, match="no setting max_tokns") as caught:
        resolved(layers, REENACT_MAX_TOKNS="3")
    assert "max_tokens" in caught.value.next_step


def test_an_impossible_value_names_value_and_origin(layers: Path) -> None:
    with pytest.raises(SettingsError, match="max_calls='many' from environment"):
        resolved(layers, REENACT_MAX_CALLS="many")


@pytest.mark.parametrize("line", ['sandbox = "none"', "trust_code = true", 'allow_packages = ["evil"]'])
def test_a_project_file_cannot_lower_the_guard(tmp_path: Path, line: str) -> None:
    (tmp_path / "reenact.toml").write_text(line)
    with pytest.raises(SettingsError, match="guards you"):
        resolved(tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "reenact.toml").write_text("model = ")
    with pytest.raises(SettingsError, match=r"reenact\.toml cannot be read"):
        resolved(tmp_path)


def test_every_setting_is_explained() -> None:
    assert set(field_texts(Settings)) == {spec.name for spec in fields(Settings)}
