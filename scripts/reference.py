"""The documentation's index, navigation and reference, made from what is there: a hook of mkdocs.

commands.md   every verb with its options, from click      settings.md   every setting, from its class
words.md      every word that `reenact explain` knows       agents.md     every tool of `reenact mcp`
json.md       what --output-format json prints           python.md     every function of `import reenact`
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import gallery as pictures
from fences import without_marks
from result_schema import results

if TYPE_CHECKING:
    from reenact.faults.fault import Fault

ROOT = Path(__file__).parents[1]
FOLDER = "reference"
START, GALLERY, STYLE = "start.md", "faults.md", "code.css"
LESSONS = (
    "broken-classifier",
    "use-from-python",
    "test-a-claim",
    "reproduce-a-bug",
    "reproduce-a-paper",
    "use-from-an-agent",
)
GUIDES = (
    "diagnose",
    "repair",
    "hypotheses",
    "watching",
    "reading",
    "viewing",
    "runs",
    "reuse",
    "ci",
    "agents",
    "bug",
    "paper",
    "fingerprint",
    "evaluating",
    "models",
    "relay",
    "trials",
    "learned-detector",
    "exit-codes",
    "architecture",
    "developing",
)
"""In the order in which they are read."""
REFERENCE = (
    "commands.md",
    "settings.md",
    "words.md",
    "agents.md",
    "json.md",
    "python.md",
)


def on_config(config: Any, **_: Any) -> Any:
    """Called by mkdocs: tutorials and guides by name, then benchmarks, faults and reference."""
    docs = Path(config["docs_dir"])
    guides = in_order((path.name for path in docs.glob("*.md") if path.name != START), GUIDES)
    lessons = in_order(
        (f"tutorials/{path.name}" for path in (docs / "tutorials").glob("*.md")),
        LESSONS,
    )
    config["nav"] = [
        {"Start": "index.md"},
        {"Gallery": f"{FOLDER}/{GALLERY}"},
        {"Tutorials": lessons},
        {"Guides": guides},
        {"Benchmarks": "benchmarks/README.md"},
        {"Faults": "faults/README.md"},
        {"Reference": [f"{FOLDER}/{name}" for name in REFERENCE]},
    ]
    return config


def in_order(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """The pages in reading order; those that nobody put in order come last, by name."""
    known = [Path(name).stem for name in first]
    found = {Path(name).stem: name for name in names}
    return [found[stem] for stem in (*known, *sorted(set(found) - set(known))) if stem in found]


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Called by mkdocs: add the pages to those of the folder."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "index.md", content=index()))
    files.append(File.generated(config, STYLE, content=style()))
    files.append(File.generated(config, f"{FOLDER}/{GALLERY}", content="\n".join(gallery())))
    for name, text in pages().items():
        files.append(File.generated(config, f"{FOLDER}/{name}", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs: how a block is proven is for the tests, and no language that a page
    knows.
    """
    return without_marks(markdown)


def index() -> str:
    """The first page."""
    return (ROOT / "docs" / START).read_text(encoding="utf-8")


def style() -> str:
    """Colours of code, light and dark as the page is."""
    from pygments.formatters import HtmlFormatter

    dark = HtmlFormatter(style="monokai").get_style_defs('[data-bs-theme="dark"] .codehilite')
    return f"{HtmlFormatter(style='default').get_style_defs('.codehilite')}\n{dark}\n"


def gallery() -> Iterator[str]:
    """Every fault by category: what it looks like, what looks for it, and what to write instead."""
    from reenact.faults.entry import Category
    from reenact.faults.registry import all_faults
    from reenact.settings import field_texts

    texts = field_texts(Category)
    yield "# Faults\n\nWhat goes wrong in trainings, what it looks like, and how it is fixed.\n"
    yield (
        "Pictures: examples of faults and of `examples/broken`, trained by `python "
        "scripts/gallery.py`.\n"
    )
    for category in Category:
        faults = [fault for fault in all_faults() if fault.category is category]
        if faults:
            yield f"## {category.value}\n\n{texts[category.name]}\n"
        for fault in faults:
            yield from _shown_fault(fault)


def _shown_fault(fault: Fault) -> Iterator[str]:
    from reenact.faults.registry import detectors_of

    detectors = ", ".join(f"{one.code} {one.name}" for one in detectors_of(fault))
    yield f"### [{fault.name}](../faults/{fault.name}.md)\n"
    yield f"{_cell(section_of(fault, 'Symptom'))} Detectors: {detectors}.\n"
    if fault.name in pictures.SHOWN:
        yield f"![{pictures.caption(fault.name)}](../img/faults/{fault.name}.svg)\n"
    instead = section_of(fault, "Instead", lines=True)
    if any(line.startswith(("+", "-")) for line in instead.splitlines()):
        yield f"```diff\n{instead}\n```\n"


def section_of(fault: Fault, name: str, *, lines: bool = False) -> str:
    """A section of the page of a fault as it is written, on one line unless its lines count."""
    found = re.search(rf"^{name}\n((?:    .*\n|\n)*)", fault.page, re.MULTILINE)
    body = inspect.cleandoc("\n" + found[1]) if found else ""
    return body if lines else " ".join(body.split())


def pages() -> dict[str, str]:
    """File name and Markdown of every page."""
    made = (commands, settings, words, tools, document, functions)
    return {name: "\n".join(make()) for name, make in zip(REFERENCE, made, strict=True)}


def commands() -> Iterator[str]:
    """Every verb, as `--help` tells it."""
    from reenact.cli.main import reenact

    yield "# Commands\n\nOptions of reenact stand before the program, its own behind it.\n"
    context = click.Context(reenact, info_name="reenact")
    for name in reenact.list_commands(context):
        verb = reenact.get_command(context, name)
        assert verb is not None
        yield from _command(verb, f"reenact {name}", 2)


def _command(command: click.Command, path: str, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    if isinstance(command, click.Group):
        yield f"{'#' * level} {path}\n\n{_text(command)}\n"
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, f"{path} {name}", level + 1)
        return
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"{'#' * level} {path}\n\n{_text(command)}\n\n```\n{path} {usage}\n```\n"
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        yield "| option | default | |\n|---|---|---|"
        yield from (_option(option) for option in options)
        yield ""


def _option(option: click.Option) -> str:
    names = " ".join(f"`{name}`" for name in option.opts)
    return f"| {names} | {_shown(option.default)} | {_cell(option.help or '')} |"


def _shown(default: object) -> str:
    """A default for a reader; nothing where nothing is set."""
    return (
        f"`{default}`"
        if isinstance(default, str | int | float | Path) and default not in ("", False)
        else ""
    )


def _text(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "").replace("\b\n", "").replace("<", "\\<")


def settings() -> Iterator[str]:
    """Every setting with its environment variable."""
    from reenact.settings import ENV_PREFIX, Settings, field_texts

    yield "# Settings\n\nFlag > environment > project file > user file > default."
    yield "`reenact config` prints each value with its origin.\n"
    yield "| setting | environment | default | |\n|---|---|---|---|"
    for spec in fields(Settings):
        guards = " Never taken from a project file." if spec.metadata.get("guards") else ""
        described = f"{_cell(field_texts(Settings)[spec.name])}{guards}"
        yield (
            f"| `{spec.name}` | `{ENV_PREFIX}{spec.name.upper()}` | {_shown(spec.default)} | "
            f"{described} |"
        )


def words() -> Iterator[str]:
    """Endings, exit codes, fault types, verdicts."""
    from reenact.api.reference import known_words

    yield (
        "# Words\n\nWhat `reenact explain WORD` tells. [Faults](../faults/README.md) have pages.\n"
    )
    yield "| word | |\n|---|---|"
    yield from (f"| `{word}` | {_cell(text)} |" for word, text in sorted(known_words().items()))


def tools() -> Iterator[str]:
    """Every tool of the server with the schemas that clients see."""
    import anyio

    from reenact.mcp.server import make_server
    from reenact.mcp.tools import Permits

    server = make_server(Path(".reenact"), Permits())
    yield "# Tools of `reenact mcp`\n"
    for tool in anyio.run(server.list_tools):
        given = tool.input_schema.get("properties", {})
        yield f"## {tool.name}\n\n{tool.description}\n"
        if given:
            yield "| argument | default | |\n|---|---|---|"
            yield from (_argument(name, one) for name, one in given.items())
        yield f"\n{_schema('Schema of the answer', tool.output_schema)}"


def document() -> Iterator[str]:
    """The JSON that every verb prints, by an example."""
    from pathlib import PurePosixPath

    from reenact.report.document import Diagnostic, Document, Level
    from reenact.report.render import SCHEMA_VERSION, as_json
    from reenact.settings import field_texts
    from reenact.types import Place

    place = Place(PurePosixPath("train.py"), 23, 52, 23, 56)
    notice = Diagnostic(
        "UM005", "learning-rate-high", Level.WARNING, "learning rate 10. ...", place
    )
    document = Document(
        "lint",
        "Faults in the text",
        "1 finding in 1 file.",
        diagnostics=(notice,),
        data={"findings": ["..."]},
    )
    yield f"# JSON\n\n`--output-format json` prints one object, schema version {SCHEMA_VERSION}.\n"
    yield "Lines count from 1, columns from 0; ends are exclusive. What is not a number is null.\n"
    yield f"```json\n{as_json(document)}```\n"
    yield "| field | |\n|---|---|\n| `schema_version` | Changes when a field changes its meaning. |"
    yield (
        "| `notices` | What was found, with stable codes; SARIF and annotations are made of the "
        "same. |"
    )
    for name in ("kind", "verdict", "data"):
        yield f"| `{name}` | {_cell(field_texts(Document)[name])} |"
    yield "\n## Schemas of `data`\n\nWhat a result holds; there may be more.\n"
    yield from (_schema(f"reenact {command}", schema) for command, schema in results().items())


def functions() -> Iterator[str]:
    """Every function of `import reenact`, as `help()` tells it."""
    import reenact
    from reenact import api
    from reenact.settings import field_texts

    yield f"# Python\n\n{_prose(inspect.getdoc(api) or '').partition('training  ')[0]}"
    named = sorted(name for name, home in reenact._HOME_OF.items() if home.startswith("api."))
    for name in [*named, "watch", "metric"]:
        function = getattr(reenact, name)
        yield f"## reenact.{name}\n\n```python\n{_signature(name, function)}\n```\n"
        yield f"{_prose(inspect.getdoc(function) or '')}\n"
        if dataclasses.is_dataclass(function):
            texts = field_texts(function)
            yield "".join(f"- `{field}`: {text}\n" for field, text in texts.items())


def _signature(name: str, function: Any) -> str:
    given = inspect.signature(function)
    shown = [_parameter(one) for one in given.parameters.values()]
    positional = [one for one in given.parameters.values() if one.kind is not one.KEYWORD_ONLY]
    if len(positional) < len(shown) and not any(
        one.kind is one.VAR_POSITIONAL for one in positional
    ):
        shown.insert(len(positional), "*")
    lines = "".join(f"    {one},\n" for one in shown)
    returned = "" if inspect.isclass(function) else f" -> {given.return_annotation}"
    return f"{name}(\n{lines}){returned}"


def _parameter(one: inspect.Parameter) -> str:
    star = "*" if one.kind is one.VAR_POSITIONAL else ""
    default = "" if one.default is one.empty else f" = {one.default!r}"
    if dataclasses.is_dataclass(one.default):
        # A group of options; each has a default of its own.
        default = f" = {type(one.default).__name__}()"
    return f"{star}{one.name}: {one.annotation}{default}"


def _prose(text: str) -> str:
    """A docstring as Markdown: `Example:` as a block, each entry of `Args:` as an item."""
    made, section = [], ""
    for line in [*text.splitlines(), ""]:
        if not line.startswith("    ") and line.strip() and section:
            made += ["```"] * (section == "Example:")
            section = ""
        if line.strip() in ("Example:", "Args:", "Returns:"):
            section = line.strip()
            made += [f"**{section}**\n", *["```python"] * (section == "Example:")]
        elif section == "Args:" and (entry := re.match(r"    (\w[\w, ]*): (.*)", line)):
            made.append(f"- `{entry[1]}`: {entry[2]}")
        elif section == "Args:":
            made.append(f"  {line.strip()}".rstrip())
        else:
            made.append(line.removeprefix("    ") if section else line)
    return "\n".join([*made, "```"] if section == "Example:" else made)


def _schema(title: str, schema: Any) -> str:
    text = escape(json.dumps(schema, indent=1), quote=False)
    return f"<details><summary>{title}</summary><pre>{text}</pre></details>\n"


def _argument(name: str, schema: dict[str, Any]) -> str:
    default = f"`{json.dumps(schema['default'])}`" if "default" in schema else "needed"
    return f"| `{name}` | {default} | {_cell(schema.get('description', ''))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")
