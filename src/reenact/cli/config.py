"""`reenact config`: every setting, its value and where it comes from."""

from __future__ import annotations

from dataclasses import fields

import click

from reenact.cli.options import output_format, show
from reenact.report.document import Document
from reenact.settings import Resolved, Settings, default_user_file, field_texts, resolve
from reenact.types import JsonValue, Table

IGNORED = "Ignored: a project file may not set this."


@click.command()
@output_format
def config(output_format: str) -> None:
    """Print every setting, its value and where it comes from."""
    show(_document(resolve()), output_format)


def _document(resolved: Resolved) -> Document:
    texts = field_texts(Settings)
    names = [spec.name for spec in fields(Settings)]
    values = {name: getattr(resolved.settings, name) for name in names}
    rows = tuple((name, _written(values[name]), resolved.origins[name], texts[name]) for name in names)
    rows += tuple((name, "-", f"project file {resolved.project_file}", IGNORED) for name in resolved.ignored)
    changed = sum(1 for origin in resolved.origins.values() if origin != "default")
    return Document(
        kind="config",
        title="Settings in force",
        verdict=f"{len(names)} settings, {changed} not at their default. User file: {default_user_file()}",
        blocks=(Table("", ("setting", "value", "from", "what it does"), rows),),
        data={
            name: {"value": _json(values[name]), "origin": resolved.origins[name], "help": texts[name]}
            for name in names
        }
        | {
            name: {"value": None, "origin": f"project file {resolved.project_file}", "help": IGNORED}
            for name in resolved.ignored
            if name not in values
        },
    )


def _json(value: object) -> JsonValue:
    if isinstance(value, bool | int | float | None):
        return value
    return list(value) if isinstance(value, tuple) else str(value)


def _written(value: object) -> str:
    if value is None or value in ("", ()):
        return "-"
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
