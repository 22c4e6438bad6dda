"""`reenact init`: the files with which a project uses reenact."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from reenact.cli.help import command
from reenact.cli.options import echo
from reenact.installed import DISTRIBUTION
from reenact.settings import Settings, field_texts
from reenact.types import ExitCode

SETTINGS = Path("reenact.toml")
HOOKS = Path(".pre-commit-config.yaml")
WORKFLOW = Path(".github/workflows/reenact.yml")
EXAMPLES = {
    "max_cost": "5.0",
    "max_tokens": "1_000_000",
    "max_calls": "200",
    "max_time": "3600",
    "progress": '"lines"',
}
HOOK = """\
  - repo: local
    hooks:
      - id: reenact
        name: reenact lint
        entry: reenact lint --output-format concise
        language: system
        types_or: [python, jupyter]
        require_serial: true
"""
ACTIONS = f"""\
name: reenact
on: [push, pull_request]
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      # From a package index; name your clone, wheel or git address where it comes from there.
      - run: python -m pip install {DISTRIBUTION}
      - run: reenact lint --output-format github
"""


@command()
@click.option("--no-pre-commit", is_flag=True, help=f"Do not write {HOOKS}.")
@click.option("--no-ci", is_flag=True, help=f"Do not write {WORKFLOW}.")
def init(no_pre_commit: bool, no_ci: bool) -> ExitCode:
    """Set up this folder: reenact.toml, a pre-commit hook, a workflow of GitHub Actions.

    A file that exists is never changed: what to add to it is printed instead.
    """
    files = {SETTINGS: _settings()}
    if not no_pre_commit:
        files[HOOKS] = f"repos:\n{HOOK}"
    if not no_ci:
        files[WORKFLOW] = ACTIONS
    for file, text in files.items():
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            echo(f"{file} written.")
        elif file == HOOKS and "id: reenact" not in file.read_text(encoding="utf-8"):
            echo(f"{file} exists. Add below `repos:`:\n{HOOK}".rstrip())
        else:
            echo(f"{file} exists and was not changed.")
    echo("Next: reenact lint")
    return ExitCode.OK


def _settings() -> str:
    """What a project may set, each with its explanation and commented out."""
    texts = field_texts(Settings)
    lines = ["# Settings of reenact for this project. A project may only lower limits."]
    for spec in fields(Settings):
        metadata: Any = spec.metadata
        if "bounds" in metadata or metadata.get("project"):
            lines += ["", f"# {texts[spec.name]}", f"# {spec.name} = {EXAMPLES[spec.name]}"]
    return "\n".join(lines) + "\n"
