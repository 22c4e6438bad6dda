"""How reenact itself was installed, and the command that adds a part of it.

The base package is the linter; everything else comes with extras of `pyproject.toml`.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "reenact-dl"
"""The name under which the package is installed; it is imported and called as `reenact`."""
MODULES = {
    "train": ("numpy", "scipy", "optuna"),
    "models": ("numpy", "scipy", "jsonschema", "ruff"),
    "papers": ("pdfplumber", "pypandoc", "pypdfium2", "selectolax"),
    "web": ("starlette", "uvicorn", "jinja2"),
    "mcp": ("mcp",),
}
"""What an extra brings that its commands cannot work without. `models` also brings pydantic-ai,
which only a model of a provider needs.
"""
FILE = "file://"


def missing_module(extra: str) -> str | None:
    """The first module of an extra that is not installed; none where all are there."""
    for module in MODULES[extra]:
        if find_spec(module) is None:
            return module
    return None


def install_line(extra: str) -> str:
    """The command that adds an extra to this installation, by the tool that installed it."""
    prefix = Path(sys.prefix)
    # A tool builds its environment from the start: without all extras, earlier ones are lost.
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool install --force {_named('all')}"
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx install --force {_named('all')}"
    editable, installer = _how()
    pip = "uv pip install" if installer == "uv" else "pip install"
    return f"{pip} {'-e ' * editable}{_named(extra)}"


def _named(extra: str) -> str:
    """The distribution with an extra, quoted for a shell, from where it was installed."""
    import shlex
    from urllib.parse import unquote

    url = _origin().get("url", "")
    if not isinstance(url, str) or not url:
        return shlex.quote(f"{DISTRIBUTION}[{extra}]")
    if url.startswith(FILE):
        source = unquote(url.removeprefix(FILE))
        # A wheel may be gone by now.
        return shlex.quote(f"{source if Path(source).exists() else DISTRIBUTION}[{extra}]")
    control = _origin().get("vcs_info")
    scheme = ""
    if isinstance(control, dict):
        scheme = f"{control.get('vcs', 'git')}+"
    return shlex.quote(f"{DISTRIBUTION}[{extra}] @ {scheme}{url}")


def _how() -> tuple[bool, str]:
    """Whether it is editable, and the program that installed it."""
    folder = _origin().get("dir_info")
    editable = isinstance(folder, dict) and folder.get("editable") is True
    return editable, (_metadata("INSTALLER") or "pip").strip()


def _origin() -> dict[str, object]:
    """Where it came from, as PEP 610 records it; empty when from a package index."""
    import json

    try:
        read = json.loads(_metadata("direct_url.json") or "{}")
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _metadata(name: str) -> str | None:
    """A file of the installed distribution; none where reenact runs without being installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(DISTRIBUTION).read_text(name)
    except PackageNotFoundError:
        return None
