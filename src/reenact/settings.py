"""Every setting, its explanation and where its value comes from.

flag > environment (REENACT_*) > project (reenact.toml or [tool.reenact]) > user file > default,
resolved here and nowhere else. A project file comes with a repository, perhaps a stranger's, so of
it only `progress` and the four limits are taken, and a limit only to lower what the user's own
file, environment or flag gives. The rest of the file is ignored, with one sentence on stderr.
"""

import ast
import difflib
import inspect
import json
import os
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from reenact.errors import SettingsError, UnreadableToml
from reenact.files import read_text, read_toml
from reenact.plain import plain_line

ENV_PREFIX = "REENACT_"
OTHERS = (
    "CRASH_AT",
    "DATA",
    "KEPT_PYTHONPATH",
    "NO_NETWORK_MODELS",
    "PROBE",
    "PROBE_FAULT",
    "PROGRESS_FILE",
    "TRACEBACK",
)
NOT_SETTINGS = frozenset(f"{ENV_PREFIX}{name}" for name in OTHERS)
SANDBOXES = ("auto", "bubblewrap", "container", "docker", "podman", "sandlock", "none")
"""`docker` and `podman` are the tier `container` with that engine."""
PROGRESS = ("auto", "bar", "lines", "none")
MOST_SECONDS = 366 * 86_400
MOST_DOLLARS = 1_000_000_000
MOST_TOKENS = 10**12
MOST_CALLS = 10**9
NAMES_SHOWN = 8
STUDY_URL = f"{ENV_PREFIX}STUDY_URL"
MOST_BYTES = 1 << 20
_mentioned: set[str] = set()


def _limit(
    least: float,
    most: float,
    *,
    above: bool = False,
) -> Mapping[str, Any]:
    """A limit between these bounds, without the lower one when `above`; a project file may
    lower it.
    """
    return {"bounds": (least, most, above)}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults. The text under a field is what `reenact config` prints."""

    model: str = ""
    """The model to ask, for example `anthropic:NAME`, `ollama:NAME`, `command:PROGRAM`,
    `relay:FOLDER`.
    """
    sandbox: str = field(default="auto", metadata={"choices": SANDBOXES})
    """Tier that runs untrusted code: auto, bubblewrap, container, sandlock or none."""
    trust_code: bool = False
    """Allow the tier `none`, which confines nothing."""
    allow_packages: tuple[str, ...] = ()
    """Packages that a model or a document may have installed without asking."""
    max_cost: Decimal | None = field(
        default=None,
        metadata=_limit(0, MOST_DOLLARS),
    )
    """Money one run may spend on models, in US dollars."""
    max_tokens: int | None = field(
        default=None,
        metadata=_limit(1, MOST_TOKENS),
    )
    """Tokens one run may use, in and out together."""
    max_calls: int | None = field(
        default=None,
        metadata=_limit(1, MOST_CALLS),
    )
    """Model calls one run may make."""
    max_time: float | None = field(
        default=None,
        metadata=_limit(0, MOST_SECONDS, above=True),
    )
    """Wall-clock seconds one run may take."""
    python: str = ""
    """Interpreter for your own programs; empty means the active one."""
    runs_dir: Path = Path(".reenact")
    """Folder of the journal, artefacts and traces."""
    cache_dir: Path | None = None
    """Folder of prepared environments and downloads; empty means the platform's user cache."""
    study_url: str = field(default="", metadata={"secret": True})
    """Database in which several repairs share their Optuna study, as an SQLAlchemy URL; empty: a
    file a run. May hold a password: give it as REENACT_STUDY_URL; it is not printed.
    """
    editor: str = "vscode://file{path}:{line}:{column}"
    """Address by which the page opens a place in your editor; empty means no such links."""
    progress: str = field(
        default="auto",
        metadata={"choices": PROGRESS, "project": True},
    )
    """How waiting is shown: auto, bar, lines or none."""


SECRETS = frozenset(spec.name for spec in fields(Settings) if spec.metadata.get("secret"))
"""Settings whose value is shown nowhere."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings in force, with the origin of every value."""

    settings: Settings
    origins: Mapping[str, str]
    ignored: tuple[str, ...] = ()
    """Names that the project file gives and may not set."""
    project_file: Path | None = None


def resolve(
    flags: Mapping[str, object] | None = None,
    *,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    user_file: Path | None = None,
) -> Resolved:
    """Put the layers on one another. Unknown names and impossible values raise SettingsError, but
    what a project file may not set is ignored.
    """
    cwd = cwd or Path.cwd()
    environ = os.environ if environ is None else environ
    user_file = user_file or default_user_file()
    values: dict[str, Any] = {}
    origins = {spec.name: "default" for spec in fields(Settings)}
    project_file = find_project_file(cwd)
    keys = ("tool", "reenact") if project_file and project_file.name == "pyproject.toml" else ()
    given = {} if project_file is None else _read_table(project_file, keys)
    limits, words = _project_may_set()
    project = f"project file {project_file}"
    layers = [
        (f"user file {user_file}", _read_table(user_file, ())),
        (
            project,
            {name: given[name] for name in words if name in given},
        ),
        ("environment", _from_environment(environ)),
        (
            "flag",
            {name: value for name, value in (flags or {}).items() if value is not None},
        ),
    ]
    for origin, table in layers:
        for name, value in table.items():
            values[name] = _checked(name, value, origin)
            origins[name] = (
                f"environment {ENV_PREFIX}{name.upper()}" if origin == "environment" else origin
            )
    for name in (name for name in limits if name in given):
        # The project's limit is taken where the user gave none or a higher one.
        value = _checked(name, given[name], project)
        own = values.get(name)
        if value is None or (own is not None and own <= value):
            continue
        if own is not None:
            _say_once(f"The {project} lowers {name} from {own:g} ({origins[name]}) to {value:g}.")
        values[name], origins[name] = value, project
    ignored = tuple(name for name in given if name not in limits | words)
    if ignored:
        more = f" and {len(ignored) - NAMES_SHOWN} more" if len(ignored) > NAMES_SHOWN else ""
        _say_once(
            f"Ignored in the {project}: {', '.join(ignored[:NAMES_SHOWN])}{more}; a project may "
            f"only set {', '.join(sorted(words))} and lower {', '.join(sorted(limits))}. Give "
            f"others as a flag, as {ENV_PREFIX}NAME in the environment, or in {user_file}."
        )
    return Resolved(Settings(**values), origins, ignored, project_file)


def default_user_file() -> Path:
    """Where a user's own settings live on this platform."""
    from platformdirs import user_config_path

    return user_config_path("reenact") / "reenact.toml"


def save_setting(
    name: str,
    text: str | None,
    user_file: Path | None = None,
) -> Path:
    """Write one setting into the user's own file, or take it out; everything else in it stays.

    Raises SettingsError for an unknown name or an impossible value."""
    file = user_file or default_user_file()
    name = name.replace("-", "_")
    given: object = text
    if str(_types().get(name, "")).startswith("tuple["):
        given = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is None:
        given = getattr(Settings(), name, None)
    checked = _checked(name, given, "command line")
    old = read_text(file, MOST_BYTES).splitlines() if file.is_file() else []
    other = [
        line
        for line in old
        if line.partition("=")[0]
        .strip()
        .replace(
            "-",
            "_",
        )
        != name
    ]
    if text is not None:
        written = checked if isinstance(checked, bool | int | float | tuple) else str(checked)
        other.insert(
            0,
            f"{name} = {json.dumps(written)}",
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "".join(f"{line}\n" for line in other),
        encoding="utf-8",
    )
    return file


def cache_folder(settings: Settings) -> Path:
    """Where prepared environments and downloads are kept."""
    if settings.cache_dir is not None:
        return settings.cache_dir
    from platformdirs import user_cache_path

    return user_cache_path("reenact")


def find_project_file(start: Path) -> Path | None:
    """The nearest reenact.toml, or pyproject.toml with [tool.reenact], here or above."""
    for folder in (start, *start.parents):
        if (own := folder / "reenact.toml").is_file():
            return own
        shared = folder / "pyproject.toml"
        if shared.is_file() and _read_table(shared, ("tool", "reenact")):
            return shared
    return None


@cache
def field_texts(owner: type) -> Mapping[str, str]:
    """The text under each field or member of a class, read from its source."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str] = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        target = (
            before.targets[0] if isinstance(before, ast.Assign) else getattr(before, "target", None)
        )
        text = after.value if isinstance(after, ast.Expr) else None
        if isinstance(target, ast.Name) and isinstance(text, ast.Constant):
            texts[target.id] = " ".join(str(text.value).split())
    return texts


def _read_table(
    path: Path,
    keys: tuple[str, ...],
) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        table: Any = read_toml(path, MOST_BYTES)
    except (UnreadableToml, OSError) as error:
        says = f"The file {path} cannot be read as TOML: {error}."
        raise SettingsError(says, next_step=f"Correct {path}.") from error
    for key in keys:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"{'.'.join(keys)} in {path} must be a table. Received: {table!r}.")
    return {name.replace("-", "_"): value for name, value in table.items()}


@cache
def _project_may_set() -> tuple[frozenset[str], frozenset[str]]:
    """Limits that a project file may lower, and other settings that it may give."""
    limits = frozenset(spec.name for spec in fields(Settings) if "bounds" in spec.metadata)
    return limits, frozenset(spec.name for spec in fields(Settings) if spec.metadata.get("project"))


def _say_once(sentence: str) -> None:
    """On stderr, which belongs to no protocol; settings are resolved several times in one
    process.
    """
    if sentence not in _mentioned:
        _mentioned.add(sentence)
        print(  # noqa: T201
            f"reenact: {plain_line(sentence)}",
            file=sys.stderr,
            flush=True,
        )


def _from_environment(environ: Mapping[str, str]) -> Mapping[str, Any]:
    table: dict[str, Any] = {}
    for variable, text in environ.items():
        if not variable.startswith(ENV_PREFIX) or variable in NOT_SETTINGS:
            continue
        name = variable.removeprefix(ENV_PREFIX).lower()
        if name not in _types() and not difflib.get_close_matches(name, _types(), n=1):
            _say_once(
                f"Ignored: there is no setting {name} (from the environment variable {variable})."
            )
            continue
        is_list = str(_types().get(name, "")).startswith("tuple[")
        table[name] = [part for part in text.split(",") if part] if is_list else text
    return table


@cache
def _types() -> Mapping[str, Any]:
    return get_type_hints(Settings)


def _checked(name: str, value: object, origin: str) -> Any:
    if name not in _types():
        close = difflib.get_close_matches(name, _types(), n=1)
        hint = f"Did you mean {close[0]}?" if close else "`reenact config` lists all settings."
        raise SettingsError(
            f"There is no setting {name} (from {origin}).",
            next_step=hint,
        )
    from pydantic import TypeAdapter, ValidationError

    try:
        checked: Any = TypeAdapter(_types()[name]).validate_python(value)
        wrong = "" if checked is None else _outside(name, checked)
        if isinstance(checked, str) and plain_line(checked) != checked:
            wrong = "it holds control characters"
    except ValidationError as error:
        wrong = error.errors()[0]["msg"]
    if wrong:
        raise SettingsError(
            f"The setting {name} has an impossible value: {wrong}. Received:"
            f" {'a value' if name in SECRETS else f'{name}={value!r}'} from {origin}.",
            next_step="`reenact config` explains every setting.",
        )
    return checked


def _outside(name: str, value: Any) -> str:
    """What is expected, where a value of the right type is not among those that make sense."""
    allowed = next(spec.metadata for spec in fields(Settings) if spec.name == name)
    if value not in allowed.get("choices", (value,)):
        return f"expected one of {', '.join(allowed['choices'])}"
    if "bounds" not in allowed:
        return ""
    least, most, above = allowed["bounds"]
    # Comparisons with nan are false, so that it is outside.
    inside = least < value <= most if above else least <= value <= most
    if inside:
        return ""
    begins = "above" if above else "from"
    return f"expected a number {begins} {least} up to {most}"
