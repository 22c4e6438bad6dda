"""One page a rule and an index, in Markdown, from the docstrings: the same words as `explain`."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from textwrap import fill, indent

from reenact.result import encoded
from reenact.rules.reading import reading
from reenact.rules.registry import all_rules
from reenact.rules.rule import Rule
from reenact.types import JsonValue

CODE = ("Example", "Instead")
"""Sections that are programs."""
KEYS = ("code", "name", "family", "fault", "needs", "severity", "status", "certainty", "confidence", "why")
INDEX = "README.md"
OURS = re.compile(r"[A-Z]{2}[0-9]{3}")
"""The name of a page that this module once wrote."""


@cache
def rule_help(code: str) -> str:
    """The page of a rule as help text; empty for a code that is no rule's."""
    return next((page(rule) for rule in all_rules() if rule.code == code), "")


def page(rule: Rule) -> str:
    """A rule's documentation."""
    fault = f"fault type **{rule.fault.value}**" if rule.fault is not None else "a symptom of no single fault"
    summary = f"Family `{rule.family}`, {fault}, {rule.severity.value}, {rule.status.value}. "
    summary += f"Needs {', '.join(_needs(rule))}. Confidence {rule.confidence:.2f} before anything is tried."
    parts = [f"# {rule.code} {rule.name}", summary, rule.why]
    for name, body in reading(rule).sections.items():
        # Markdown joins the lines of prose.
        shown = f"```python\n{body.rstrip()}\n```" if name in CODE else body.strip().replace("<", "\\<")
        parts.append(f"## {name}\n{shown}")
    return "\n\n".join(parts) + "\n"


def index(rules: Sequence[Rule]) -> str:
    """All rules by family, each with a link to its page."""
    parts = [
        "# Rules",
        "Written by `reenact rules --write docs/rules` from the docstrings; change those, not these pages.\n"
        "Every example is executed by the tests: the rule fires on the first and is silent on the second.",
    ]
    columns = ("code", "name", "fault", "needs", "severity", "certainty", "status")
    for family in dict.fromkeys(rule.family for rule in rules):
        lines = [f"## {family}", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
        for rule in (one for one in rules if one.family == family):
            code, name, _, fault, _, status = rule_cells(rule)
            needs, severity, certainty = ", ".join(_needs(rule)), rule.severity.value, rule.certainty.value
            cells = (f"[{code}]({code}.md)", name, fault, needs, severity, certainty, status)
            lines.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """File name and text of every page."""
    return {INDEX: index(all_rules()), **{f"{rule.code}.md": page(rule) for rule in all_rules()}}


def write_pages(folder: Path) -> tuple[Path, ...]:
    """Write all pages and take away those of rules that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for old in folder.glob("*.md"):
        if OURS.fullmatch(old.stem) and old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(folder / name for name in wanted)


def rule_cells(rule: Rule) -> tuple[str, ...]:
    """A rule in a table: code, name, family, fault, needs, status."""
    fault = rule.fault.value if rule.fault is not None else "-"
    return rule.code, rule.name, rule.family, fault, " ".join(_needs(rule)), rule.status.value


def rule_text(rule: Rule, width: int = 100) -> str:
    """A rule's documentation as plain text; programs keep their lines."""
    text = reading(rule)
    fault = f"{rule.fault.value}  " if rule.fault is not None else ""
    needs = " ".join(_needs(rule))
    head = f"{text.title}\n\n  {rule.family}  {fault}{rule.severity}  needs {needs}  {rule.status}\n"
    parts = []
    for name, body in text.sections.items():
        filled = "\n\n".join(fill(part, width - 4) for part in body.split("\n\n"))
        parts.append(f"{name}\n{indent(body if name in CODE else filled, '    ')}\n")
    return "\n".join([head, *parts]).rstrip()


def _needs(rule: Rule) -> list[str]:
    return [str(need.name).lower() for need in rule.needs] or ["source or trace"]


def rule_data(rule: Rule) -> dict[str, JsonValue]:
    """A rule for programs."""
    return {name: _needs(rule) if name == "needs" else encoded(getattr(rule, name)) for name in KEYS}
