"""One page a rule and an index, in Markdown, from the docstrings: the same words as `explain`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reenact.rules.reading import reading
from reenact.rules.registry import all_rules
from reenact.rules.rule import Rule
from reenact.types import JsonValue

CODE = ("Example", "Instead")
"""Sections that are programs."""
INDEX = "README.md"


def rule_help(code: str) -> str:
    """The page of a rule as help text; empty for a code that is no rule's."""
    return next((page(rule) for rule in all_rules() if rule.code == code), "")


def page(rule: Rule) -> str:
    """A rule's documentation."""
    parts = [f"# {rule.code} {rule.name}", _summary(rule)]
    for name, body in reading(rule).sections.items():
        shown = f"```python\n{body.rstrip()}\n```" if name in CODE else _flowing(body)
        parts.append(f"## {name}\n{shown}")
    return "\n\n".join(parts) + "\n"


def index(rules: Sequence[Rule]) -> str:
    """All rules by family, each with a link to its page."""
    parts = [
        "# Rules",
        "Written by `reenact rules --write docs/rules` from the docstrings; change those, not these pages.\n"
        "Every example is executed by the tests: the rule fires on the first and is silent on the second.",
    ]
    for family in dict.fromkeys(rule.family for rule in rules):
        rows = [_row(rule) for rule in rules if rule.family == family]
        head = "| code | name | fault | needs | severity | certainty | status |\n" + "|---" * 7 + "|"
        parts.append(f"## {family}\n" + "\n".join([head, *rows]))
    return "\n\n".join(parts) + "\n"


def pages(rules: Sequence[Rule] | None = None) -> dict[str, str]:
    """File name and text of every page."""
    chosen = all_rules() if rules is None else rules
    return {INDEX: index(chosen), **{f"{rule.code}.md": page(rule) for rule in chosen}}


def write_pages(folder: Path) -> tuple[Path, ...]:
    """Write all pages and take away those of rules that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for old in _ours(folder.glob("*.md")):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(folder / name for name in wanted)


def needs_of(rule: Rule) -> str:
    """What a rule needs, in words."""
    return ", ".join(str(need.name).lower() for need in rule.needs)


def rule_data(rule: Rule) -> dict[str, JsonValue]:
    """A rule for programs."""
    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "fault": rule.fault.value if rule.fault is not None else None,
        "needs": [str(need.name).lower() for need in rule.needs],
        "severity": rule.severity.value,
        "status": rule.status.value,
        "certainty": rule.certainty.value,
        "confidence": rule.confidence,
        "why": rule.why,
    }


def _ours(files: Iterable[Path]) -> list[Path]:
    """Pages that this module once wrote: two letters and three digits."""
    return [
        file for file in files if len(file.stem) == 5 and file.stem[:2].isupper() and file.stem[2:].isdigit()
    ]


def _summary(rule: Rule) -> str:
    fault = f"fault type **{rule.fault.value}**" if rule.fault is not None else "a symptom of no single fault"
    return (
        f"Family `{rule.family}`, {fault}, {rule.severity.value}, {rule.status.value}. "
        f"Needs {needs_of(rule)}. Confidence {rule.confidence:.2f} before "
        f"anything is tried.\n\n{rule.why}"
    )


def _row(rule: Rule) -> str:
    fault = rule.fault.value if rule.fault is not None else "-"
    cells = (
        f"[{rule.code}]({rule.code}.md)",
        rule.name,
        fault,
        needs_of(rule),
        rule.severity.value,
        rule.certainty.value,
        rule.status,
    )
    return "| " + " | ".join(cells) + " |"


def _flowing(body: str) -> str:
    """Prose as it stands; Markdown joins its lines."""
    return body.strip().replace("<", "\\<")
