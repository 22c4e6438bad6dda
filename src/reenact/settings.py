"""Every setting, its explanation and where its value comes from.

flag > environment (REENACT_*) > project (reenact.toml or [tool.reenact]) > user file > default,
resolved here and nowhere else. A project file comes with a repository, so what guards the user
(`trust_code`, `sandbox`, `allow_packages`) is never taken from it.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from reenact.errors import SettingsError

ENV_PREFIX = "REENACT_"
NOT_SETTINGS = frozenset(
    {
        "REENACT_CRASH_AT",
        "REENACT_DATA",
        "REENACT_NO_NETWORK_MODELS",
        "REENACT_PLUGINS",
        "REENACT_PROBE",
        "REENACT_PROBE_FAULT",
        "REENACT_TRACEBACK",
    }
)


def _guarded(default: Any) -> Any:
    """A field that a project file may not set."""
    return field(default=default, metadata={"guards": True})


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults. The text under a field is what `reenact config` prints."""

    model: str = ""
    """The model to ask, for example `anthropic:NAME`, `ollama:NAME`, `command:PROGRAM`, `relay:FOLDER`."""
    sandbox: str = _guarded("auto")
    """Tier that runs untrusted code: auto, bubblewrap, container, sandlock or none."""
    trust_code: bool = _guarded(False)
    """Allow the tier `none`, which confines nothing."""
    allow_packages: tuple[str, ...] = _guarded(())
    """Packages that a model or a document may have installed without asking."""
    max_cost: Decimal | None = None
    """Money one run may spend on models, in US dollars."""
    max_tokens: int | None = None
    """Tokens one run may use, in and out together."""
    max_calls: int | None = None
    """Model calls one run may make."""
    max_time: float | None = None
    """Wall-clock seconds one run may take."""
    pdf_reader: str = "builtin"
    """What reads PDFs: builtin, mineru (the program MinerU, once installed), or auto (mineru where it is)."""
    python: str = ""
    """Interpreter for your own programs; empty means the active one."""
    runs_dir: Path = Path(".reenact")
    """Folder of the journal, artefacts and traces."""
    cache_dir: Path | None = None
    """Folder of prepared environments and downloads; empty means the platform's user cache."""
    progress: str = "auto"
    """How waiting is shown: auto, bar, lines or none."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings in force, with the origin of every value."""

    settings: Settings
    origins: Mapping[str, str]


def resolve(
    flags: Mapping[str, object] | None = None,
    *,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    user_file: Path | None = None,
) -> Resolved:
    """Put the layers on one another. Unknown names and impossible values raise SettingsError."""
    cwd = cwd or Path.cwd()
    environ = os.environ if environ is None else environ
    user_file = user_file or default_user_file()
    values: dict[str, Any] = {}
    origins = {spec.name: "default" for spec in fields(Settings)}
    project_file = find_project_file(cwd)
    layers = [
        (f"user file {user_file}", _read_table(user_file, ())),
        (f"project file {project_file}", _guarded_out(_project_table(project_file), project_file)),
        ("environment", _from_environment(environ)),
        ("flag", {name: value for name, value in (flags or {}).items() if value is not None}),
    ]
    for origin, table in layers:
        for name, value in table.items():
            values[name] = _checked(name, value, origin)
            origins[name] = f"environment {ENV_PREFIX}{name.upper()}" if origin == "environment" else origin
    return Resolved(Settings(**values), origins)


def default_user_file() -> Path:
    """Where a user's own settings live on this platform."""
    from platformdirs import user_config_path

    return user_config_path("reenact") / "reenact.toml"


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
        target = before.target if isinstance(before, ast.AnnAssign) else None
        if isinstance(before, ast.Assign):
            target = before.targets[0]  # type: ignore[assignment]
        if (
            isinstance(target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            texts[target.id] = str(after.value.value)
    return texts


def _project_table(path: Path | None) -> Mapping[str, Any]:
    if path is None:
        return {}
    return _read_table(path, ("tool", "reenact") if path.name == "pyproject.toml" else ())


def _read_table(path: Path, keys: tuple[str, ...]) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(
            f"The file {path} cannot be read as TOML: {error}.", next_step=f"Mend {path}."
        ) from error
    for key in keys:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"{'.'.join(keys)} in {path} must be a table. Received: {table!r}.")
    return {name.replace("-", "_"): value for name, value in table.items()}


def _guarded_out(table: Mapping[str, Any], path: Path | None) -> Mapping[str, Any]:
    guards = {spec.name for spec in fields(Settings) if spec.metadata.get("guards")}
    for name in table:
        if name in guards:
            raise SettingsError(
                f"The setting {name} guards you, so a project file may not set it."
                f" Received: {name}={table[name]!r} in {path}.",
                next_step=f"Give it as a flag, as {ENV_PREFIX}{name.upper()}, or in {default_user_file()}.",
            )
    return table


def _from_environment(environ: Mapping[str, str]) -> Mapping[str, Any]:
    table: dict[str, Any] = {}
    for variable, text in environ.items():
        if not variable.startswith(ENV_PREFIX) or variable in NOT_SETTINGS:
            continue
        name = variable.removeprefix(ENV_PREFIX).lower()
        is_list = str(_types().get(name, "")).startswith("tuple[")
        table[name] = [part for part in text.split(",") if part] if is_list else text
    return table


@cache
def _types() -> Mapping[str, Any]:
    return get_type_hints(Settings)


def _checked(name: str, value: object, origin: str) -> object:
    if name not in _types():
        close = difflib.get_close_matches(name, _types(), n=1)
        hint = f"Did you mean {close[0]}?" if close else "`reenact config` lists all settings."
        raise SettingsError(f"There is no setting {name} (from {origin}).", next_step=hint)
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(_types()[name]).validate_python(value)
    except ValidationError as error:
        says = error.errors()[0]["msg"]
        raise SettingsError(
            f"The setting {name} has an impossible value: {says}. Received: {name}={value!r} from {origin}.",
            next_step=f"Give {name} as {_types()[name]}.",
        ) from error
