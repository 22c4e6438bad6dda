"""`reenact doctor`: what works on this machine, what is missing, and the one step that fixes each
problem; `reenact config`: every setting, its value and where it comes from; `reenact cache`: what
prepared environments take on the disk.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reenact.cli.calling import PROGRAM, program_words
from reenact.cli.help import command
from reenact.cli.options import Amount, echo, option, output_format, show
from reenact.errors import InputError, ReenactError
from reenact.host_program import find_program, run_host_program
from reenact.installed import MODULES, install_line, missing_module
from reenact.program.program import read_program
from reenact.redact import HIDDEN
from reenact.report.document import (
    Block,
    Board,
    Diagnostic,
    Document,
    Facts,
    Level,
    Row,
)
from reenact.result import encoded
from reenact.settings import (
    SECRETS,
    Settings,
    cache_folder,
    default_user_file,
    field_texts,
    resolve,
)
from reenact.types import ExitCode, JsonValue, Place, Table
from reenact.version import __version__

if TYPE_CHECKING:
    from reenact.sandbox.choose import TierReport

PACKAGES = ("uv", "openai", "anthropic")
"""Packages that are used where they are installed."""
FRAMEWORKS = ("torch", "keras", "lightning", "transformers")
"""What a training needs in its own interpreter."""
PROGRAMS = ("git", "gcc", "bwrap", "docker", "podman")
LOW_DISK_BYTES = 2 * 1024**3
IGNORED = "Ignored: a project file may not set this."
GB = 1_000_000_000
OBSTACLES = {
    "syntax": "DR010",
    "interpreter": "DR008",
    "packages": "DR011",
    "launcher": "DR012",
    "arguments": "DR013",
    "gpu": "DR014",
    "data": "DR015",
    "keyboard": "DR016",
}
"""Codes of what keeps a program from running."""


@command(context_settings=PROGRAM)
@option("--python", "Interpreter to use; default: the active one.")
@output_format
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def doctor(python: str | None, output_format: str, program: tuple[str, ...]) -> ExitCode:
    """Check this machine, or whether the training PROGRAM will run here.

    PROGRAM is a script, a notebook or `-m package` with its arguments; it is read, never run. Exit
    code 0 when all is well, 1 when something is to fix.
    """
    if program:
        return _check_program(program_words(program), python, output_format)
    from reenact.llm.names import keys_present
    from reenact.sandbox.choose import describe

    settings = resolve().settings
    tiers = describe()
    keys = keys_present()
    machine = _machine()
    programs = {name: shutil.which(name) for name in PROGRAMS}
    packages: dict[str, str | None] = dict.fromkeys(PACKAGES)
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.version(name)
    parts = {
        extra: f"missing: {install_line(extra)}" if missing_module(extra) else None
        for extra in MODULES
    }
    theirs = interpreter_facts(settings)
    notices = tuple(problems(settings))
    to_fix = sum(notice.level is not Level.NOTE for notice in notices)
    chosen = (
        ("chosen", settings.model or "none"),
        (
            "keys set",
            ", ".join(filter(keys.get, keys)) or "none",
        ),
    )
    blocks = (
        Facts("Machine", tuple(machine.items())),
        Facts("Models", chosen),
        Facts(
            "Programs",
            tuple((name, path or "not found") for name, path in programs.items()),
        ),
        Facts(
            "Packages",
            tuple((name, known or "not found") for name, known in packages.items()),
        ),
        Facts(
            "Parts of reenact",
            tuple((name, line or "installed") for name, line in parts.items()),
        ),
        Facts("Interpreter of your programs", tuple(theirs.items())),
        *_sandbox_blocks(tiers),
    )
    data: dict[str, JsonValue] = {
        "reenact": __version__,
        "machine": machine,
        "sandbox": [dataclasses.asdict(tier) for tier in tiers],
        "model": settings.model,
        "keys_set": keys,
        "programs": programs,
        "packages": packages,
        "missing_parts": [extra for extra, line in parts.items() if line],
        "interpreter": theirs,
        "free_disk_bytes": shutil.disk_usage(existing(settings.runs_dir)).free,
    }
    title = f"reenact {__version__} on this machine"
    verdict = f"{to_fix} to fix; the next step is with each." if to_fix else "All is well."
    show(
        Document(
            "doctor",
            title=title,
            verdict=verdict,
            blocks=blocks,
            diagnostics=notices,
            data=data,
        ),
        output_format,
    )
    return ExitCode.FOUND if to_fix else ExitCode.OK


def _check_program(words: list[str], python: str | None, output_format: str) -> ExitCode:
    """Say what would keep a program from running here."""
    from reenact.probe.readiness import obstacles

    settings = resolve({"python": python}).settings
    program = read_program(words)
    found = tuple(obstacles(program, settings.python))
    stops = [one for one in found if one.certain]
    notices = tuple(
        Diagnostic(
            OBSTACLES[one.name],
            one.name,
            Level.ERROR if one.certain else Level.NOTE,
            one.sentence,
            Place(program.entry, one.line) if one.line is not None else None,
            next_step=one.next_step,
        )
        for one in found
    )
    theirs = interpreter_facts(settings)
    verdict = f"Nothing speaks against it. Next: reenact diagnose {shlex.join(words)}"
    if stops:
        verdict = f"{program.entry} will not run here: {', '.join(one.name for one in stops)}."
    show(
        Document(
            "doctor",
            title=f"Will {shlex.join(words)} run here?",
            verdict=verdict,
            blocks=(Facts("Interpreter", tuple(theirs.items())),),
            diagnostics=notices,
            data={"obstacles": encoded(found), "interpreter": theirs},
        ),
        output_format,
    )
    return ExitCode.FOUND if stops else ExitCode.OK


def interpreter_facts(settings: Settings) -> dict[str, str]:
    """The interpreter in which `diagnose` and `repair` start a program, and the frameworks that
    it has.
    """
    from reenact.probe.injected import default_python
    from reenact.probe.surroundings import packages_of

    path = default_python(settings.python)
    has = packages_of(path)
    chosen = "chosen by the setting python" if settings.python else "that of reenact itself"
    active = not settings.python and os.environ.get("VIRTUAL_ENV", "\0") in path
    facts = {
        "path": f"{path} ({'the active environment' if active else chosen})",
        "version": has.get("python", "cannot be started"),
    }
    if has:
        for name in FRAMEWORKS:
            facts[name] = has.get(name, "missing")
    return facts


def _sandbox_blocks(tiers: tuple[TierReport, ...]) -> Iterator[Block]:
    rows = []
    for tier in tiers:
        if tier.chosen:
            state = "used by default"
        elif tier.works:
            state = "works"
        else:
            state = "missing"
        rows.append(
            (
                tier.name,
                state,
                tier.missing or "; ".join(tier.in_force) or "-",
            )
        )
    yield Table(
        "Sandbox",
        ("tier", "", "in force, or what is missing"),
        tuple(rows),
    )
    holes = tuple((tier.name, "; ".join(tier.does_not_stop)) for tier in tiers if tier.works)
    yield Facts("What a tier does not stop", holes)


def _machine() -> dict[str, str]:
    import psutil

    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    memory_bytes = psutil.virtual_memory().total
    disk_bytes = shutil.disk_usage(Path.cwd()).free
    return {
        "system": system,
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory_bytes / 1024**3:.0f} GiB",
        "free disk": f"{disk_bytes / 1024**3:.0f} GiB",
        "gpu": _gpus() or "none found",
    }


def _gpus() -> str:
    """Names that the driver's own tool lists; torch is not imported for this."""
    tool = find_program("nvidia-smi")
    if tool is None:
        return ""
    try:
        asked = run_host_program([tool, "--query-gpu=name", "--format=csv,noheader"], wall_s=20)
    except (OSError, TimeoutError):
        return ""
    names = asked.stdout.decode(errors="replace").splitlines()
    if asked.returncode == 0:
        return ", ".join(names)
    return ""


def problems(settings: Settings) -> Iterator[Diagnostic]:
    """Everything to fix, and notes that are worth knowing."""
    yield from _sandbox(settings)
    if (settings.runs_dir / "journal.db").exists():
        from reenact.journal import JournalReader

        try:
            with JournalReader.open(settings.runs_dir) as shelf:
                shelf.runs()
        except ReenactError as error:
            yield _problem("DR003", "journal", error)
    for folder in dict.fromkeys(
        (
            settings.runs_dir.absolute(),
            cache_folder(settings).absolute(),
        )
    ):
        yield from _disk(existing(folder))
    yield from _model(settings)
    yield from _interpreter(settings)


def _interpreter(settings: Settings) -> Iterator[Diagnostic]:
    """A program whose framework is elsewhere cannot be watched; where that is, only its user
    knows.
    """
    facts = interpreter_facts(settings)
    path = facts["path"].rpartition(" (")[0]
    fix = (
        "Activate the environment of your training, pass --python PATH, or: reenact config set "
        "python PATH"
    )
    if "torch" not in facts:
        says = f"The interpreter of your programs cannot be started: {path}."
        yield Diagnostic("DR008", "interpreter", Level.ERROR, says, next_step=fix)
    elif facts["torch"] == facts["keras"] == "missing":
        says = f"Programs are started with {path}, which has neither torch nor keras."
        yield Diagnostic("DR009", "no-framework", Level.NOTE, says, next_step=fix)


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def _sandbox(settings: Settings) -> Iterator[Diagnostic]:
    from reenact.sandbox.choose import choose, notice

    wanted = None if settings.sandbox == "auto" else settings.sandbox
    try:
        weaker = notice(choose(wanted, trust_code=settings.trust_code))
    except ReenactError as error:
        yield _problem("DR001", "no-sandbox", error)
        return
    if weaker:
        yield Diagnostic(
            "DR002",
            "weaker-sandbox",
            Level.WARNING,
            weaker,
            next_step="apt install bubblewrap",
        )


def _disk(folder: Path) -> Iterator[Diagnostic]:
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK):
        says = f"{folder} cannot be written to."
        fix = "Set runs_dir or cache_dir to another folder."
        yield Diagnostic("DR004", "read-only-folder", Level.ERROR, says, next_step=fix)
    elif free < LOW_DISK_BYTES:
        says = f"Only {free / 1024**2:.0f} MiB are free at {folder}."
        yield Diagnostic(
            "DR005", "low-disk", Level.WARNING, says, next_step="Free some space there."
        )


def _model(settings: Settings) -> Iterator[Diagnostic]:
    from reenact.llm.names import PROVIDERS, parse_name, require_key

    if not settings.model:
        says = "No model is chosen. Watching, diagnosing and repairing your own program need none."
        yield Diagnostic(
            "DR006",
            "no-model",
            Level.NOTE,
            says,
            next_step="reenact config set model NAME",
        )
        return
    try:
        name = parse_name(settings.model)
        if name.kind in PROVIDERS:
            require_key(name)
    except ReenactError as error:
        yield _problem("DR007", "model", error)


def _problem(code: str, name: str, error: ReenactError) -> Diagnostic:
    return Diagnostic(
        code,
        name,
        Level.ERROR,
        error.sentence,
        next_step=error.next_step,
    )


@command()
@output_format
@click.argument("words", nargs=-1, metavar="[set NAME VALUE | unset NAME]")
def config(words: tuple[str, ...], output_format: str) -> None:
    """Print every setting, its value and where it comes from; `set` and `unset` write your own
    file.
    """
    if words:
        echo(_saved(words))
        return
    resolved = resolve()
    texts = field_texts(Settings)
    project = f"project file {resolved.project_file}"
    origins = resolved.origins.items()
    # Of a secret, only that there is one.
    values = {name: getattr(resolved.settings, name) for name in texts}
    for name in SECRETS:
        if values[name]:
            values[name] = HIDDEN
    known = [
        (
            name,
            values[name],
            origin,
            texts[name],
        )
        for name, origin in origins
    ]
    ignored = [(name, None, project, IGNORED) for name in resolved.ignored]
    rows = [
        (name, _written(value), origin, text) for name, value, origin, text in (*known, *ignored)
    ]
    data: dict[str, JsonValue] = {
        name: {
            "value": encoded(value),
            "origin": origin,
            "help": text,
        }
        for name, value, origin, text in (*ignored, *known)
    }
    changed = sum(origin != "default" for _, origin in origins)
    verdict = (
        f"{len(known)} settings, {changed} not at their default. User file: {default_user_file()}"
    )
    table = Table(
        "",
        ("setting", "value", "from", "what it does"),
        tuple(rows),
    )
    show(
        Document("config", "Settings in force", verdict, (table,), data=data),
        output_format,
    )


def _saved(words: tuple[str, ...]) -> str:
    """Carry out `set NAME VALUE` or `unset NAME`; the sentence that says so."""
    from reenact.settings import save_setting

    match words:
        case ("set", name, value):
            shown = HIDDEN if name.replace("-", "_") in SECRETS else value
            return f"{name} = {shown} in {save_setting(name, value)}"
        case ("unset", name):
            return f"{name} is at its default again, in {save_setting(name, None)}"
        case _:
            taken = "`set NAME VALUE`, `unset NAME` or nothing"
            raise InputError(f"config takes {taken}. Received: {' '.join(words)}.")


def _written(value: object) -> str:
    if value is None or value in ("", ()):
        return "-"
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


@command()
@option(
    "--prune",
    "Remove the least recently used beyond this.",
    Amount(0, 1_000_000),
    metavar="GB",
)
@output_format
def cache(prune: float | None, output_format: str) -> ExitCode:
    """List the environments that were built for projects and papers, and what they take on the
    disk.

    Files that several environments share are counted once in the sum. `--prune 0` removes all of
    them.
    """
    from reenact.sandbox.environments.prepare import Environments
    from reenact.sandbox.environments.stored import last_used

    folder = cache_folder(resolve().settings) / "environments"
    environments = Environments(folder)
    removed = environments.prune(int(prune * GB)) if prune is not None else ()
    kept = environments.listing()
    taken = environments.disk_bytes()
    most = environments.most_bytes
    used = [f"{datetime.fromtimestamp(last_used(one.folder)):%Y-%m-%d}" for one in kept]
    listed = [
        *((one, "removed") for one in removed),
        *zip(kept, used, strict=True),
    ]
    sized = (
        (
            f"{one.size_bytes / 1e6:.0f} MB",
            one,
            used,
        )
        for one, used in listed
    )
    rows = [
        Row(
            (
                one.key[:12],
                size,
                used,
                ", ".join(one.packages)[:100],
            )
        )
        for size, one, used in sized
    ]
    verdict = (
        f"{len(kept)} environments, {taken / GB:.2f} GB on the disk, at most {most / GB:.0f} GB."
    )
    built: list[JsonValue] = [
        {
            "key": one.key,
            "bytes": one.size_bytes,
            "packages": list(one.packages),
        }
        for one in kept
    ]
    data: dict[str, JsonValue] = {
        "folder": str(folder),
        "disk_bytes": taken,
        "most_bytes": most,
        "environments": built,
        "removed": [one.key for one in removed],
    }
    board = Board("", ("environment", "size", "last used", "packages"), rows)
    show(
        Document("cache", "Prepared environments", verdict, (board,), data=data),
        output_format,
    )
    return ExitCode.OK
