"""What reenact answers, taken once and compared after a change of its inside.

    python scripts/golden.py take [GROUP ...]       runs every command twice, keeps what both runs agree on
    python scripts/golden.py compare [GROUP ...]    runs them once; exit 0 all equal, 1 something differs

Compared are codes, places, confidences, numbers, verdicts, exit codes and the set of keys; sentences are not,
nor what differs from run to run (times), nor numbers that differ by rounding. A new command, option or
detector is no difference. `tests/golden/renamed.json` maps old keys and words to new ones, so that a renaming
is written down once; `added` lists keys that there were not, with the reason. A difference that is meant is
written down with its reason in `tests/golden/README.md`, and the group is taken again. Groups: help, rules,
static, params, graph, quick, bugs, papers.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
RENAMED = GOLDEN / "renamed.json"
JSON = ("--output-format", "json")
VALIDATOR = Draft202012Validator(
    json.loads(files("reenact.report").joinpath("result.schema.json").read_text(encoding="utf-8"))
)
UNSTEADY = {"seconds", "cpu_seconds", "wall_s", "time", "run", "schema_version"}
"""Keys that differ between two runs of the same code, or that say which form this is."""
GROWING = ("help", "rules")
"""Groups that list what there is: what was added since is no difference."""
ROUNDING = 1e-6
LONGEST_S = 900.0


@dataclass(frozen=True, slots=True)
class Command:
    """One command and the name of its answer."""

    name: str
    words: tuple[str, ...]
    cwd: Path = ROOT
    is_json: bool = True


def _of_help() -> Iterator[Command]:
    from reenact.cli.help import Command as HelpInTwoLengths
    from reenact.cli.main import VERBS

    for verb, (place, _) in VERBS.items():
        module, _, name = place.partition(":")
        is_long = isinstance(getattr(import_module(module), name), HelpInTwoLengths)
        yield Command(verb, (verb, "--help-all" if is_long else "--help"), is_json=False)


def _of_rules() -> Iterator[Command]:
    yield Command("rules", ("rules", *JSON))


def _of_static() -> Iterator[Command]:
    yield Command("lint-corpus", ("lint", *JSON, "tests/corpus"))
    yield from _examples("diagnose", "--depth", "static")


def _examples(*words: str) -> Iterator[Command]:
    for path in sorted((ROOT / "examples" / "broken").glob("*.py")):
        yield Command(path.stem, (*words, *JSON, path.name), path.parent)


GROUPS: Mapping[str, Callable[[], Iterator[Command]]] = {
    "help": _of_help,
    "rules": _of_rules,
    "static": _of_static,
    "params": lambda: _examples("params"),
    "graph": lambda: _examples("graph"),
    "quick": lambda: _examples("diagnose", "--fresh"),
    "bugs": lambda: map(_bug, _cases("bugs", "case.json")),
    "papers": lambda: map(_paper, _cases("papers", "case.toml")),
}


def answer(command: Command) -> dict[str, Any]:
    """What the command says, as steady leaves: path of keys -> value."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        environ = {
            **os.environ,
            "REENACT_RUNS_DIR": f"{folder}/runs",
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }
        words = [
            word.replace("OUT", f"{folder}/out") if word == "OUT" else word
            for word in command.words
        ]
        ended = subprocess.run(  # noqa: S603 - our own command line
            [sys.executable, "-P", "-m", "reenact", *words],
            cwd=command.cwd,
            env=environ,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    found: dict[str, Any] = {"exit": ended.returncode}
    if not command.is_json:
        options = sorted(
            {word.rstrip(".,:;)") for word in ended.stdout.split() if word.startswith("--")}
        )
        return {**found, **{f"options.{name}": True for name in options}}
    try:
        document = json.loads(ended.stdout)
    except json.JSONDecodeError:
        return {**found, "no-json": ended.stderr[-300:]}
    if unlike := best_match(VALIDATOR.iter_errors(document)):
        found["unlike its schema"] = unlike.json_path
    return found | dict(_leaves(document))


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in UNSTEADY:
                yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield f"{path}#", len(value)
        names = _names(value) if path == "data" else range(len(value))
        for at, inner in zip(names, value, strict=True):
            yield from _leaves(inner, f"{path}[{at}]")
    else:
        yield path, "<sentence>" if isinstance(value, str) and " " in value else value


def _names(rows: list[Any]) -> Sequence[object]:
    """Rows of a list that differ in their code are named by it, so that one more moves none of the others."""
    codes = [row.get("code") for row in rows if isinstance(row, dict)]
    has_codes = len(set(codes)) == len(rows) and all(isinstance(code, str) for code in codes)
    return codes if has_codes else range(len(rows))


def agreed(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """What both runs say; a value that differs is kept as a key alone."""
    shared = [key for key in first if key in second]
    return {key: first[key] if first[key] == second[key] else "<varies>" for key in shared}


def table(kind: str) -> dict[str, str]:
    """Old names of one kind (`keys`, `values`, `commands`) to new ones; `added` keys to the
    reason.
    """
    found: dict[str, str] = json.loads(RENAMED.read_text(encoding="utf-8")).get(kind, {})
    return found


def renamed(leaves: Mapping[str, Any]) -> dict[str, Any]:
    """The old answer in the names of now."""
    keys, values = table("keys"), table("values")

    def named(path: str) -> str:
        parts = (re.match(r"([^\[#]*)(.*)", part) for part in path.split("."))
        return ".".join(keys.get(part[1], part[1]) + part[2] for part in parts if part)

    return {
        named(path): values.get(value, value) if isinstance(value, str) else value
        for path, value in leaves.items()
    }


def is_equal(old: object, new: object) -> bool:
    """Numbers are, but for rounding: sums are formed otherwise by another processor."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return old == new


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Each leaf that is gone, new or other."""
    added = table("added")
    lines = [f"gone   {key} = {old[key]!r}" for key in old if key not in new]
    unknown = (key for key in new if key not in old and key.rpartition(".")[2] not in added)
    lines += [f"new    {key} = {new[key]!r}" for key in unknown]
    steady = [key for key in old if key in new and old[key] != "<varies>"]
    return lines + [
        f"other  {key}: {old[key]!r} -> {new[key]!r}"
        for key in steady
        if not is_equal(old[key], new[key])
    ]


def without_additions(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What is listed now of what was listed then; how long the list is counts no more."""
    heads = {_head(key) for key in old}
    kept = {key: value for key, value in new.items() if _head(key) in heads}
    return kept | {key: old[key] for key in kept if key == "data#"}


def _head(path: str) -> str:
    row = re.match(r"data\[\w+\]", path)
    return row[0] if row else path


def take(group: str) -> None:
    """Write the golden answers of a group."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    kept = {}
    for command in GROUPS[group]():
        print(f"{group} {command.name}", flush=True)
        kept[command.name] = agreed(answer(command), answer(command))
    text = json.dumps(kept, sort_keys=True, ensure_ascii=True)
    (GOLDEN / f"{group}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def compare(group: str) -> int:
    """How many commands of a group answer otherwise than they did."""
    taken = json.loads(gzip.decompress((GOLDEN / f"{group}.json.gz").read_bytes()))
    commands = table("commands")
    known = {commands.get(name, name): answers for name, answers in taken.items()}
    different = 0
    for command in GROUPS[group]():
        old = renamed(known.get(command.name, {}))
        if not old and group in GROWING:
            print(f"{group} {command.name}: new", flush=True)
            continue
        new = answer(command)
        if group in GROWING:
            new = without_additions(old, new)
        lines = differences(old, new) if old else ["no golden answer"]
        different += bool(lines)
        print(
            f"{group} {command.name}: {'equal' if not lines else f'{len(lines)} differences'}",
            flush=True,
        )
        for line in lines[:12]:
            print(f"    {line}", flush=True)
    return different


def _cases(kind: str, facts: str) -> list[Path]:
    roots = [
        ROOT / "benchmarks" / "cases" / kind,
        ROOT / "src" / "reenact" / "demo" / "cases" / kind,
        ROOT / "src" / "reenact" / "bench" / "cases" / kind,
    ]
    return sorted(
        (path.parent for root in roots for path in root.glob(f"*/{facts}")),
        key=lambda one: one.name,
    )


def _bug(case: Path) -> Command:
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    words = [
        "bug",
        str(case / "report.md"),
        "--repo",
        str(case / "project.bundle"),
        "--commit",
        facts["buggy"],
    ]
    words += ["--fixed", facts["fixed"]] if facts["fixed"] else []
    model = f"replay:{case / 'recording.jsonl'}"
    return Command(case.name, (*words, "--model", model, "--out", "OUT", *JSON))


def _paper(case: Path) -> Command:
    facts = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
    goal = [word for name, value in facts["goal"].items() for word in (f"--{name}", value)]
    library = ["--library", str(case / "library")] if (case / "library").is_dir() else []
    model = f"replay:{case / 'recordings' / 'whole.jsonl'}"
    words = (
        "paper",
        str(case / "paper"),
        *goal,
        *library,
        "--seeds",
        str(facts["seeds"]),
        "--model",
        model,
    )
    return Command(case.name, (*words, "--out", "OUT", *JSON))


def main(words: list[str]) -> int:
    """See the first lines of this file."""
    if not words or words[0] not in ("take", "compare"):
        print(__doc__)
        return 2
    groups = words[1:] or list(GROUPS)
    if unknown := [group for group in groups if group not in GROUPS]:
        print(f"There is no group {unknown[0]!r}; groups: {', '.join(GROUPS)}.")
        return 2
    if words[0] == "take":
        for group in groups:
            take(group)
        return 0
    return 1 if sum(compare(group) for group in groups) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
