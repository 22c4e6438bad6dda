"""Runs and steps in words for readers and as data for programs; a run as a row of a list."""

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reenact.journal import JournalReader, Run, State, Status, Step
from reenact.plain import plain
from reenact.report.line_plot import sparkline
from reenact.result import encoded
from reenact.types import ExitCode, JsonValue

CELL = 18
"""Letters of a verdict or title in a list, so that a row fits a line."""
SENTENCE = 60
SHOWN_VALUE = 20_000
LONGEST = 200_000
"""Letters of one text that a terminal and that a page shows."""
RUN_KEYS = (
    "id",
    "seq",
    "pipeline",
    "what",
    "exit_code",
    "error_type",
    "error",
    "money",
    "tokens_in",
    "tokens_out",
    "unpriced",
    "started_at",
    "ended_at",
    "executions",
    "version",
)
STEP_KEYS = (
    "nr",
    "path",
    "kind",
    "version",
    "state",
    "tries",
    "reused_from",
    "started_at",
    "ended_at",
    "duration_s",
    "money",
    "tokens_in",
    "tokens_out",
    "error_type",
    "error",
)
SPARKS = 14
"""Characters of a curve in a row."""
BADGES: dict[int, str] = {
    ExitCode.OK: "finished",
    ExitCode.FOUND: "findings",
    ExitCode.INCONCLUSIVE: "unjudged",
}
"""Colours of finished runs by exit code: green, red, grey."""
STATE_WORDS = {State.BEGUN: "running"}


def run_data(run: Run, status: str) -> dict[str, JsonValue]:
    """A run for programs."""
    steps: JsonValue = {
        "all": run.steps,
        "done": run.done,
        "reused": run.reused,
        "failed": run.failed,
    }
    return {
        **{name: encoded(getattr(run, name)) for name in RUN_KEYS},
        "status": status,
        "verdict": run.verdict_data(),
        "request": run.request_data(),
        "command": list(run.command()),
        "steps": steps,
        "worked_s": round(run.worked_s, 3),
        "imported": bool(run.imported),
    }


def step_data(step: Step) -> dict[str, JsonValue]:
    """A step for programs."""
    facts: dict[str, JsonValue] = {name: encoded(getattr(step, name)) for name in STEP_KEYS}
    return facts | {"duration_s": round(step.duration_s, 3)}


def tree(steps: Sequence[Step]) -> str:
    """Steps below the folders of their paths, aligned."""
    lines: list[tuple[str, Step | None]] = []
    above: list[str] = []
    for step in steps:
        *folders, name = step.path.split("/")
        for depth in range(_shared(above, folders), len(folders)):
            lines.append(
                (
                    "  " * depth + folders[depth] + "/",
                    None,
                )
            )
        lines.append(
            (
                "  " * len(folders) + name,
                step,
            )
        )
        above = folders
    width = max((len(label) for label, _ in lines), default=0)
    return "\n".join(
        label
        if one is None
        else _tree_line(
            f"{label:{width}}",
            one,
        )
        for label, one in lines
    )


def _shared(above: Sequence[str], folders: Sequence[str]) -> int:
    """How many folders both paths begin with."""
    count = 0
    for before, now in zip(above, folders, strict=False):
        if before != now:
            break
        count += 1
    return count


def _tree_line(label: str, step: Step) -> str:
    parts = [
        f"{step.kind.value:5}",
        f"{state_of(step):10}",
        f"{time_of(step.duration_s):>8}",
        cost_of(step),
    ]
    if step.tries > 1:
        parts.append(counted(step.tries, "try"))
    if step.error_type:
        parts.append(
            short(
                f"{step.error_type}: {step.error}",
                SENTENCE,
            )
        )
    return f"{label}  {'  '.join(parts)}"


def state_of(step: Step) -> str:
    """The state in a word or two."""
    if step.state is State.REUSED:
        return f"reused from {step.reused_from}"
    return STATE_WORDS.get(step.state, step.state.value)


def steps_of(run: Run) -> str:
    """How many steps, by state."""
    parts = [
        (run.done, "done"),
        (run.reused, "reused"),
        (run.failed, "failed"),
    ]
    return ", ".join(f"{count} {word}" for count, word in parts if count) or "0"


def reused_in(run: Run, shelf: JournalReader) -> str:
    """What of a finished run's result was not made by it, in a line; empty for nothing."""
    found = [
        step
        for step in shelf.steps_at(
            run,
            f"{run.pipeline}/reused",
        )
        if step.has_result
    ]
    if found:
        return str(shelf.result(found[-1]))
    return ""


def verdict_of(run: Run) -> str:
    """The verdict or the error in a line; empty when there is neither."""
    if run.error_type:
        named = str(run.error).startswith(run.error_type)
        if named:
            return str(run.error)
        return f"{run.error_type}: {run.error}".removesuffix(": ")
    if run.verdict is None:
        return ""
    verdict = run.verdict_data()
    if isinstance(verdict, dict):
        verdict = verdict.get("verdict") or verdict.get("decision")
    return verdict if isinstance(verdict, str) else run.verdict


def sentence_of(run: Run) -> str:
    """The verdict as its command printed it, where that was recorded; else as lists show it."""
    sentence = _in_short(run).get("sentence")
    if isinstance(sentence, str):
        return sentence
    return verdict_of(run)


def headline(run: Run) -> str:
    """The verdict as the pipeline worded it, with its reason, or the error; empty while there
    is not one.
    """
    verdict = _in_short(run)
    if not verdict or "sentence" in verdict:
        first = verdict.get("first")
        if first:
            return f"{sentence_of(run).rstrip('.')}: {first}"
        return sentence_of(run)
    parts = [
        str(verdict[name]) for name in ("verdict", "reason") if isinstance(verdict.get(name), str)
    ]
    return ": ".join(parts) or ", ".join(f"{name} {value}" for name, value in verdict.items())


def _in_short(run: Run) -> Mapping[str, JsonValue]:
    """What the pipeline left for lists, by name; nothing of a run that an error ended."""
    verdict = None if run.error_type else run.verdict_data()
    return verdict if isinstance(verdict, dict) else {}


def run_facts(run: Run, *names: str) -> tuple[tuple[str, str], ...]:
    """These things about a run, in words; what models cost only where one was asked."""
    command = "started from Python"
    if run.command():
        command = shlex.join(["reenact", *run.command()])
    started = moment(run.started_at)
    if run.executions > 1:
        started += f", {run.executions} executions"
    facts = {
        "run": f"{run.id}{' (imported)' if run.imported else ''}",
        "pipeline": run.pipeline,
        "what": run.what,
        "verdict": headline(run) or "-",
        "request": run.request,
        "command": command,
        "folder": run.folder or "-",
        "started": started,
        "time": time_of(run.worked_s),
        "steps": steps_of(run),
        "cost": cost_of(run),
        "tokens": f"{run.tokens_in:,} in, {run.tokens_out:,} out",
        "version": f"reenact {run.version}, Python {run.python}",
    }
    free = ("cost", "tokens") if cost_of(run) == "-" else ()
    return tuple((name, facts[name]) for name in names if name not in free)


def moment(at: str) -> str:
    """A time of the journal, to the second."""
    return at[:19].replace("T", " ")


def short(text: str, letters: int = CELL) -> str:
    """Text in one line of at most so many letters."""
    flat = " ".join(plain(text).split())
    if len(flat) <= letters:
        return flat
    return f"{flat[: letters - 3]}..."


def counted(number: int, what: str) -> str:
    """`1 try`, `3 executions`."""
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


def cost_of(one: Run | Step) -> str:
    """Money for a reader; an unknown price is stated."""
    money = float(one.money or 0)
    unpriced = bool(one.unpriced) if isinstance(one, Run) else one.money is None
    asked = one.tokens_in + one.tokens_out > 0
    if money:
        if unpriced:
            return f"${money:.4f} + unpriced"
        return f"${money:.4f}"
    if unpriced:
        return "unpriced"
    return "$0.0000" if asked else "-"


def time_of(seconds: float) -> str:
    """Seconds for a reader."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def as_json(value: Any) -> JsonValue:
    """Plain data of the journal for JSON: bytes as text, what is not text as escapes."""
    if isinstance(value, dict):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace")


def readable(value: Any, most: int = LONGEST) -> str:
    """Plain data of the journal, indented; an unchanged text."""
    text = (
        value
        if isinstance(value, str)
        else json.dumps(as_json(value), indent=1, ensure_ascii=False)
    )
    return cut(text, most)


def cut(text: str, most: int = LONGEST) -> str:
    """A text that is not longer than a page should be."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n... {len(text) - most} more"


@dataclass(frozen=True, slots=True)
class Listed:
    """A run as a row of a list: of the page, and of `reenact runs list`."""

    run: Run
    status: str
    folder: str = ""
    """Where it ran, where that is not the folder of the page."""

    @property
    def badge(self) -> str:
        """What its colour reports: of a finished run the verdict, else the status."""
        if self.status != Status.FINISHED or self.run.exit_code is None:
            return self.status
        return BADGES.get(self.run.exit_code, "failed")

    @property
    def program(self) -> str:
        """With its arguments, as it was typed; empty where its name says as much."""
        words = program_of(self.run)
        if words and shlex.join(words) != self.run.what:
            return shlex.join(words)
        return ""

    @property
    def metric(self) -> str:
        """What the training came to, or the change made of it; empty where the verdict says as
        much.
        """
        metric = str(_in_short(self.run).get("metric") or "")
        if metric not in headline(self.run):
            return metric
        return ""

    @property
    def curve(self) -> str:
        """The loss as a line of bars."""
        values = _in_short(self.run).get("curve")
        if not isinstance(values, list):
            return ""
        numbers = [value for value in values if isinstance(value, float | int)]
        return sparkline(numbers, SPARKS) if numbers else ""

    @property
    def cost(self) -> str:
        """Of the models that were asked; empty where none was."""
        return cost_of(self.run).removeprefix("-")

    @property
    def seconds(self) -> float:
        """Worked so far; of one at work since it was started."""
        if self.status != Status.RUNNING:
            return self.run.worked_s
        started = datetime.fromisoformat(self.run.started_at)
        return max(self.run.worked_s, time.time() - started.timestamp())


def program_of(run: Run) -> list[str]:
    """The program and its arguments; empty for runs without one."""
    request = run.request_data()
    words = None
    if isinstance(request, dict):
        words = request.get("words")
    if isinstance(words, list):
        return [str(word) for word in words]
    return []
