"""What configures an installer: the user's variables and files about indexes, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.sandbox.environments.installer_settings import installer_variables


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_variables_about_indexes_pass_and_others_do_not(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = {
        "PIP_INDEX_URL": "https://a.invalid",
        "UV_INDEX_TEAM_PASSWORD": "x",
        "UV_HTTP_TIMEOUT": "9",
    }
    refused = [
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_USER",
        "UV_TARGET",
        "UV_COMPILE_BYTECODE",
        "UV_PROJECT",
    ]
    for name, value in {**passed, **dict.fromkeys(refused, "1")}.items():
        monkeypatch.setenv(name, value)
    variables = installer_variables()
    assert passed.items() <= variables.items()
    assert not set(refused) & set(variables)
    assert variables["UV_INDEX_URL"] == "https://a.invalid"
    assert variables["UV_NO_CONFIG"] == "1"
    assert variables["PIP_CONFIG_FILE"] == os.devnull


def test_the_users_file_of_pip_gives_its_options_about_indexes_alone(
    home: Path,
) -> None:
    write(
        home / ".pip" / "pip.conf",
        "[global]\nindex-url = https://old.invalid\nretries = 2\n",
    )
    text = "[global]\nindex-url = https://new.invalid\ntarget = /elsewhere\n"
    text += "[install]\nfind-links =\n  /a\n  /b\n"
    write(home / ".config" / "pip" / "pip.conf", text)
    variables = installer_variables()
    assert variables["PIP_INDEX_URL"] == "https://new.invalid"
    assert variables["PIP_RETRIES"] == "2"
    assert variables["PIP_FIND_LINKS"] == "/a /b"
    assert "PIP_TARGET" not in variables
    assert "UV_INDEX_URL" not in variables


def test_a_named_file_counts_by_its_absolute_path_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    own = write(home / "mine.toml", "")
    monkeypatch.setenv("UV_CONFIG_FILE", "mine.toml")
    assert installer_variables()["UV_NO_CONFIG"] == "1"
    monkeypatch.setenv("UV_CONFIG_FILE", str(own))
    assert installer_variables()["UV_CONFIG_FILE"] == str(own)


def test_a_broken_file_of_pip_is_named(home: Path) -> None:
    file = write(home / ".config" / "pip" / "pip.conf", "no section\n")
    with pytest.raises(InputError, match=str(file)):
        installer_variables()


def test_a_relative_path_means_the_users_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installers start in `/`: a cache would have been made there, and a certificate not found."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.chdir(home)
    for name in ("PIP_CACHE_DIR", "UV_CACHE_DIR", "PIP_CERT", "PIP_CLIENT_CERT"):
        monkeypatch.setenv(name, f"below/{name}")
    variables = installer_variables()
    for name in ("PIP_CACHE_DIR", "UV_CACHE_DIR", "PIP_CERT", "PIP_CLIENT_CERT"):
        assert variables[name] == str(home / "below" / name)
    assert variables["SSL_CERT_FILE"] == variables["PIP_CERT"]
