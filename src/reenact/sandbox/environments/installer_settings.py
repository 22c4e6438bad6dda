"""What configures an installer: the user's variables for indexes, and the user's own file, by name.

uv reads `uv.toml` and `pyproject.toml` of the current folder and every parent, then the user's file, then the
machine's; a `uv.toml` in the temporary folder, which every local user can write to, could so choose the index
and the folder that packages go to. pip reads the machine's file, the user's and that of the environment it
installs into. Both take every option as a variable. So:

    variables  those that say where packages come from and how that place is reached (`PIP`, `UV` below)
    uv         UV_CONFIG_FILE is the user's own file, which uv then reads alone; without one UV_NO_CONFIG
    pip        PIP_CONFIG_FILE=/dev/null, for which pip reads no file at all; the options of the user's own
               file about indexes are given to it as variables

The user's own file is `uv/uv.toml` or `pip/pip.conf` in XDG_CONFIG_HOME or ~/.config, `~/.pip/pip.conf`, or
the one that the user's UV_CONFIG_FILE or PIP_CONFIG_FILE names by an absolute path.
"""

import configparser
import os
import re
from pathlib import Path

from reenact.errors import InputError
from reenact.files import read_text

MOST_CONSTRAINTS = 4 << 20
MOST_SETTINGS = 1 << 20
PIP = frozenset(
    {
        "CACHE_DIR",
        "CERT",
        "CLIENT_CERT",
        "CONSTRAINT",
        "DEFAULT_TIMEOUT",
        "EXTRA_INDEX_URL",
        "FIND_LINKS",
        "INDEX_URL",
        "KEYRING_PROVIDER",
        "NO_CACHE_DIR",
        "NO_INDEX",
        "PRE",
        "PREFER_BINARY",
        "PROXY",
        "RETRIES",
        "TIMEOUT",
        "TRUSTED_HOST",
        "USE_DEPRECATED",
        "USE_FEATURE",
    }
)
"""Options of pip, as they are named after PIP_: where packages come from, and how that place
is reached.
"""
UV = re.compile(
    r"UV_(?:INDEX|INDEX_URL|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|INDEX_STRATEGY|"
    r"INDEX_\w+_(?:USERNAME|PASSWORD)|KEYRING_PROVIDER|INSECURE_HOST|NATIVE_TLS|SYSTEM_CERTS|"
    r"HTTP_TIMEOUT|HTTP_RETRIES|REQUEST_TIMEOUT|OFFLINE|CACHE_DIR|NO_CACHE|CONSTRAINT|EXCLUDE_NEWER|"
    r"PRERELEASE|TORCH_BACKEND|CONCURRENT_\w+)"
)
_FOLDERS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""Where the user keeps what is usually in the home folder: caches, and passwords for indexes."""
_PATHS = frozenset({"PIP_CACHE_DIR", "PIP_CERT", "PIP_CLIENT_CERT", "UV_CACHE_DIR"})
"""One file or folder each, which need not be there yet."""
_TO_UV = {
    "PIP_INDEX_URL": "UV_INDEX_URL",
    "PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL",
    "PIP_CONSTRAINT": "UV_CONSTRAINT",
    "PIP_CERT": "SSL_CERT_FILE",
}


def installer_variables(wheels: Path | None = None) -> dict[str, str]:
    """The variables of an installer; `wheels` is a folder of wheels besides those that the user
    named.
    """
    passed: dict[str, str] = {}
    for name, value in os.environ.items():
        is_pip = name.startswith("PIP_") and name.removeprefix("PIP_") in PIP
        if is_pip or UV.fullmatch(name) or name in _FOLDERS:
            passed[name] = value
    # The installer runs in another folder than the user, for whom a relative path was right.
    for name in {"PIP_FIND_LINKS", "PIP_CONSTRAINT", "UV_CONSTRAINT"} & passed.keys():
        passed[name] = " ".join(_absolute(place) for place in passed[name].split())
    for name in _PATHS & passed.keys():
        passed[name] = str(Path(passed[name]).expanduser().absolute())
    for pip_name, uv_name in _TO_UV.items():
        if pip_name in passed and uv_name not in os.environ:
            passed[uv_name] = passed[pip_name]
    uv_places = passed.get(
        "UV_FIND_LINKS", ",".join(passed.get("PIP_FIND_LINKS", "").split())
    ).split(",")
    # uv itself does not read pip's file, so what it holds is not a part of the above.
    passed = {
        **_options_of_pip_file(),
        **passed,
    }
    more = []
    if wheels is not None:
        more = [str(wheels)]
    passed["PIP_FIND_LINKS"] = " ".join(
        [
            *passed.get("PIP_FIND_LINKS", "").split(),
            *more,
        ]
    )
    passed["UV_FIND_LINKS"] = ",".join(
        [
            *(_absolute(place) for place in uv_places if place),
            *more,
        ]
    )
    passed["PIP_CONFIG_FILE"] = os.devnull
    uv_file = _own_file("UV_CONFIG_FILE", "uv/uv.toml")
    if uv_file is None:
        passed["UV_NO_CONFIG"] = "1"
    else:
        passed["UV_CONFIG_FILE"] = str(uv_file)
    return {name: value for name, value in passed.items() if value}


def constraints() -> str:
    """The user's own constraints: what their files say is part of what is asked for."""
    named = os.environ.get("PIP_CONSTRAINT", "") + " " + os.environ.get("UV_CONSTRAINT", "")
    return "\n".join(
        read_text(file, MOST_CONSTRAINTS) for file in map(Path, named.split()) if file.is_file()
    )


def _own_file(variable: str, name: str) -> Path | None:
    """The user's own settings for an installer; none where there is no such file."""
    named = os.environ.get(variable)
    if named is not None:
        file = Path(named)
        if file.is_absolute() and file.is_file():
            return file
        return None
    kept = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(kept) if Path(kept).is_absolute() else Path.home() / ".config"
    file = folder / name
    return file if file.is_file() else None


def _options_of_pip_file() -> dict[str, str]:
    """The options about indexes in the user's own file for pip, as variables."""
    files = [_own_file("PIP_CONFIG_FILE", "pip/pip.conf")]
    if "PIP_CONFIG_FILE" not in os.environ:
        # The older place, whose values count less.
        files.insert(
            0,
            Path.home() / ".pip" / "pip.conf",
        )
    options: dict[str, str] = {}
    for file in files:
        if file is not None and file.is_file():
            options.update(_read_options(file))
    return options


def _read_options(file: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(read_text(file, MOST_SETTINGS))
    except (configparser.Error, OSError, UnicodeDecodeError) as error:
        why = f"The settings of pip cannot be read. Received: {file}"
        raise InputError(
            why, next_step="Correct the file; `pip config list` shows what pip reads."
        ) from error
    options: dict[str, str] = {}
    for section in ("global", "install", "download"):
        if not parser.has_section(section):
            continue
        for key, value in parser.items(section):
            option = key.removeprefix("--").replace("-", "_").upper()
            if option in PIP:
                options[f"PIP_{option}"] = " ".join(value.split())
    return options


def _absolute(place: str) -> str:
    if Path(place).exists():
        return str(Path(place).absolute())
    return place
