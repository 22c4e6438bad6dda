"""Runs an installer and reads its complaints.

The user's variables for indexes, certificates and proxies reach the installer and are written nowhere;
messages lose their addresses, which may hold a password.
"""

import importlib.util
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from reenact.errors import InputError, MissingPart, ReenactError, StorageError, ended_by
from reenact.files import read_text
from reenact.sandbox.environments.pip_alone import REFUSED
from reenact.sandbox.processes import run_bounded
from reenact.types import Stop

WALL_S = 1800.0
MOST_CONSTRAINTS = 4 << 20
_PASSED = re.compile(
    r"(PIP_|UV_|SSL_CERT_|REQUESTS_CA_|CURL_CA_|XDG_CACHE_).*|.*_PROXY|HOME|PATH|TMPDIR|LANG|NETRC",
    re.IGNORECASE,
)
_NEVER = frozenset(("UV_COMPILE_BYTECODE", "PIP_COMPILE", "PIP_NO_COMPILE"))
"""The user's settings about bytecode, which uv makes by starting the new interpreter on the host."""
_TO_UV = {
    "PIP_INDEX_URL": "UV_INDEX_URL",
    "PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL",
    "PIP_CERT": "SSL_CERT_FILE",
    "PIP_CONSTRAINT": "UV_CONSTRAINT",
}
_UNREACHABLE = re.compile(
    r"error sending request|dns error|connection (?:refused|reset|error)|NewConnectionError|timed out|"
    r"Network is unreachable|temporary failure in name resolution",
    re.IGNORECASE,
)


class NoWheel(Exception):
    """A package has no wheel for this interpreter; perhaps there is a source distribution."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def run_installer(
    argv: Sequence[str],
    *,
    failure: Callable[[str], Exception] | None = None,
    stdin: str = "",
    wheels: Path | None = None,
    stop: Stop | None = None,
) -> tuple[str, str]:
    """What an installer prints and complains of, in an empty folder with the user's variables for installers.

    `failure` is what its complaint means; `wheels` is a folder of wheels to look into besides those the user
    named.
    """

    def look() -> None:
        if stop is not None and stop.asked:
            raise ended_by(stop, "Preparing the environment was stopped.")

    with tempfile.TemporaryDirectory() as empty:
        try:
            done = run_bounded(
                argv,
                folder=Path(empty),
                environment=_variables(wheels),
                wall_s=WALL_S,
                look=look,
                stdin=stdin.encode(),
            )
        except TimeoutError as error:
            raise ReenactError("The installer took too long and was ended.") from error
    printed, complaint = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode != 0 and failure is not None:
        raise failure(complaint)
    return printed, complaint


def pip_alone(python: str) -> list[str]:
    """The words that start our own pip in an interpreter, where it can start no other program."""
    found = importlib.util.find_spec("pip")
    runner = Path(found.origin).with_name("__pip-runner__.py") if found and found.origin else None
    if runner is None or not runner.exists():
        raise MissingPart(
            "pip is not installed, or older than 22.3.", next_step="python -m pip install --upgrade pip"
        )
    alone = Path(__file__).with_name("pip_alone.py")
    return [python, "-I", str(alone), str(runner), "--disable-pip-version-check", "--no-input"]


def _variables(wheels: Path | None) -> dict[str, str]:
    passed = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
    for name in _NEVER & passed.keys():
        del passed[name]
    # The installer runs in another folder than the user, for whom a relative path was right.
    places = [_absolute(place) for place in passed.get("PIP_FIND_LINKS", "").split()]
    uv_places = [
        _absolute(place) for place in passed.get("UV_FIND_LINKS", ",".join(places)).split(",") if place
    ]
    for name in ("PIP_CONSTRAINT", "UV_CONSTRAINT"):
        if name in passed:
            passed[name] = " ".join(_absolute(place) for place in passed[name].split())
    more = [] if wheels is None else [str(wheels)]
    passed["PIP_FIND_LINKS"] = " ".join(places + more)
    passed["UV_FIND_LINKS"] = ",".join(uv_places + more)
    for pip, uv in _TO_UV.items():
        if pip in passed:
            passed.setdefault(uv, passed[pip])
    return {name: value for name, value in passed.items() if value}


def constraints() -> str:
    """The user's own constraints: what their files say is part of what is asked for."""
    named = os.environ.get("PIP_CONSTRAINT", "") + " " + os.environ.get("UV_CONSTRAINT", "")
    return "\n".join(
        read_text(Path(file), MOST_CONSTRAINTS) for file in named.split() if Path(file).is_file()
    )


def _absolute(place: str) -> str:
    return str(Path(place).absolute()) if Path(place).exists() else place


def venv_failure(text: str) -> Exception:
    """What the complaint of a program that makes virtual environments means."""
    return ReenactError(f"The virtual environment cannot be made: {_clean(text)}")


def uv_failure(text: str) -> Exception:
    """What uv's complaint means."""
    meanings: tuple[tuple[str, Callable[[str], Exception]], ...] = (
        (r"Package `([^`]+)` was included as a URL dependency", from_address),
        (r"Wheels are required for `([^`]+)`", NoWheel),
        (r"[Bb]ecause (\S+) was not found", _not_found),
        (r"there (?:is|are) no versions? of (\S+)", lambda asked: _no_version(asked, text)),
    )
    for pattern, meaning in meanings:
        if match := re.search(pattern, text):
            return meaning(match[1])
    return _failure(text)


def pip_failure(text: str) -> Exception:
    """What pip's complaint means."""
    if REFUSED in text:
        return from_address("")
    missing = re.search(r"No matching distribution found for ([A-Za-z0-9._-]+)", text)
    return NoWheel(missing[1]) if missing and not _UNREACHABLE.search(text) else _failure(text)


def from_address(name: str) -> InputError:
    """A package asks for another one that lies at an address of its own choice."""
    return InputError(
        f"One of these packages needs {name or 'another one'} from an address of its own (NAME @ ADDRESS), "
        "not from your package index. Packages are installed by name and version alone.",
        next_step="Ask for another version, or give a wheel of it in a folder named by PIP_FIND_LINKS.",
    )


def _not_found(name: str) -> InputError:
    return InputError(
        f"There is no package named {name} where packages are looked for.",
        next_step="Check the spelling; it may be made up, or need an index of its own (PIP_INDEX_URL).",
    )


def _no_version(asked: str, text: str) -> InputError:
    before = re.search(r"uploaded before (\d{4}-\d\d-\d\d)", text)
    when = f" that was there before {before[1]}" if before else ""
    return InputError(
        f"The package {asked} cannot be installed: there is no such version{when}.",
        next_step="Ask for another version, or none.",
    )


def _failure(text: str) -> ReenactError:
    if _UNREACHABLE.search(text):
        return ReenactError(
            "The package index cannot be reached.",
            next_step="Check the network, or name a folder of wheels in PIP_FIND_LINKS.",
        )
    if "No space left" in text:
        return StorageError(
            "The disk is full: an environment could not be prepared.",
            next_step="Free some space; prepared environments lie in the folder that cache_dir names.",
        )
    return InputError(f"These packages cannot be installed together: {_clean(text)}")


def _clean(text: str) -> str:
    """The cause in a few lines, without addresses, which may hold a user's password."""
    text = re.sub(r"\w+://\S+", "[address]", text)
    lines = [re.sub(r"^\s*(?:error|ERROR|cause)?\s*:?\s*", "", line) for line in text.splitlines()]
    return " ".join(line for line in lines if line)[:600]
