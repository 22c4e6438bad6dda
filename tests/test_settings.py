from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import pytest

from reenact.errors import SettingsError
from reenact.settings import (
    Resolved,
    Settings,
    field_texts,
    find_project_file,
    resolve,
    save_setting,
)


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    (tmp_path / "user.toml").write_text(
        'model = "ollama:user"\nmax_calls = 1\nprogress = "bar"\nmax_tokens = 1\n'
    )
    (tmp_path / "pyproject.toml").write_text('[tool.reenact]\nmax-calls = 2\nprogress = "lines"\n')
    return tmp_path


def resolved(folder: Path, flags: dict[str, object] | None = None, **environ: str) -> Resolved:
    return resolve(flags, cwd=folder, environ=environ, user_file=folder / "user.toml")


def test_a_nearer_layer_wins_and_says_where_it_came_from(layers: Path) -> None:
    got = resolved(
        layers,
        {"model": "ollama:flag"},
        REENACT_MODEL="ollama:env",
        REENACT_PYTHON="python3",
    )
    assert (got.settings.model, got.origins["model"]) == ("ollama:flag", "flag")
    assert (got.settings.python, got.origins["python"]) == (
        "python3",
        "environment REENACT_PYTHON",
    )
    project = f"project file {layers / 'pyproject.toml'}"
    assert (got.settings.progress, got.origins["progress"]) == ("lines", project)
    assert (got.settings.max_tokens, got.origins["max_tokens"]) == (
        1,
        f"user file {layers / 'user.toml'}",
    )
    assert (got.settings.sandbox, got.origins["sandbox"]) == ("auto", "default")


def test_a_flag_that_was_not_given_does_not_count(layers: Path) -> None:
    assert resolved(layers, {"model": None}).settings.model == "ollama:user"


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


@pytest.mark.parametrize(
    "line",
    [
        'sandbox = "none"',
        "trust_code = true",
        'allow_packages = ["evil"]',
        'model = "command:/bin/false"',
        'python = "./evil"',
        'runs_dir = "/elsewhere"',
        'cache_dir = "/planted"',
        "unheard_of = 3",
    ],
)
def test_a_project_file_sets_nothing_but_progress_and_limits(
    tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reenact.toml").write_text(f'{line}\nprogress = "none"\n')
    got = resolved(tmp_path)
    name = line.partition(" ")[0]
    assert got.settings == Settings(progress="none")
    assert got.ignored == (name,)
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert f"{tmp_path / 'reenact.toml'}: {name};" in output
    assert str(tmp_path / "user.toml") in output
    resolved(tmp_path)
    assert capsys.readouterr().err == "", "reported twice"


def test_names_in_a_project_file_cannot_speak_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reenact.toml").write_text('"\\u001b]0;x\\u0007\\nreenact: all is well" = 1\n')
    resolved(tmp_path)
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert "\x1b" not in output


@pytest.mark.parametrize("name", ["max_cost", "max_tokens", "max_calls", "max_time"])
def test_a_project_file_lowers_a_limit_and_never_raises_it(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def limit(
        user: int, project: int, flag: int | None = None, **environ: str
    ) -> tuple[object, str]:
        (tmp_path / "user.toml").write_text(f"{name} = {user}" if user else "")
        (tmp_path / "reenact.toml").write_text(f"{name} = {project}")
        got = resolved(tmp_path, {name: flag}, **environ)
        return getattr(got.settings, name), got.origins[name].partition(" ")[0]

    variable = f"REENACT_{name.upper()}"
    assert limit(0, 5) == (5, "project")
    assert limit(3, 5) == (3, "user")
    assert limit(7, 5) == (5, "project")
    assert limit(9, 5, **{variable: "4"}) == (4, "environment")
    assert limit(9, 5, 2, **{variable: "8"}) == (2, "flag")
    capsys.readouterr()
    assert limit(9, 5, 6) == (5, "project")
    assert f"lowers {name} from 6 (flag) to 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_cost", "-1"),
        ("max_cost", "nan"),
        ("max_cost", "abc"),
        ("max_cost", "1e400"),
        ("max_time", "nan"),
        ("max_time", "inf"),
        ("max_time", "-5"),
        ("max_time", "0"),
        ("max_tokens", "-1"),
        ("max_tokens", "1.5"),
        ("max_calls", "0"),
        ("max_calls", "99999999999999999999"),
        ("progress", "zzz"),
        ("sandbox", "zzz"),
        ("trust_code", "perhaps"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}='{value}' from environment"):
        resolved(tmp_path, **{f"REENACT_{name.upper()}": value})
    (tmp_path / "user.toml").write_text(f"{name} = '{value}'")
    with pytest.raises(SettingsError, match=f"{name}='{value}' from user file"):
        resolved(tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "reenact.toml").write_text("model = ")
    with pytest.raises(SettingsError, match=r"reenact\.toml cannot be read"):
        resolved(tmp_path)


def test_every_setting_is_explained() -> None:
    assert set(field_texts(Settings)) == {spec.name for spec in fields(Settings)}


def test_the_text_of_a_setting_is_one_line() -> None:
    broken = [name for name, text in field_texts(Settings).items() if "\n" in text or "  " in text]
    assert broken == []


@pytest.mark.parametrize("name", ["reenact.toml", "pyproject.toml"])
@pytest.mark.parametrize("text", ["a = " + "[" * 50_000, "a = " + "9" * 5_000])
def test_a_file_above_that_no_parser_takes_is_a_sentence(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "below").mkdir()
    with pytest.raises(SettingsError, match="cannot be read as TOML"):
        resolve(cwd=tmp_path / "below", environ={}, user_file=tmp_path / "none.toml")


@pytest.mark.parametrize("value", ["\x1b]0;x\x07", "a\nb", "\u202eledom"])
def test_a_value_with_control_characters_is_refused(value: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="control characters") as refused:
        save_setting("model", value, tmp_path / "reenact.toml")
    assert value not in str(refused.value)
    assert not (tmp_path / "reenact.toml").exists()
