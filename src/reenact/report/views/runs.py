"""What `reenact runs` has to say, as documents."""

from collections.abc import Sequence
from typing import Any

from reenact.journal import Run, Status, Step
from reenact.journal.query import QueryAnswer
from reenact.journal.upkeep import Checked
from reenact.report import run_words as words
from reenact.report.document import Document, Facts, Text
from reenact.report.svg import shortened
from reenact.result import encoded
from reenact.types import JsonValue, Table

WHAT = 40
VERDICT = 32
FOLDER = 24
"""Letters of a command, a verdict and a folder in a list."""


def list_document(
    found: Sequence[tuple[Run, str]],
    total: int,
    here: str = "",
) -> Document:
    """Runs in a table, without the columns that are empty; `here` is the folder that is not
    named.
    """
    places = ("" if run.folder in ("", here) else run.folder for run, _ in found)
    rows = [words.Listed(*one, place) for one, place in zip(found, places, strict=True)]
    commands = []
    verdicts = []
    for row in rows:
        # What was typed, after the name where the run was given one; what it came to, or how it
        # is.
        name = ""
        if row.program and row.run.what not in row.program:
            name = f"{row.run.what}: "
        commands.append(f"{name}{row.run.pipeline} {row.program or row.run.what}")
        verdict = words.verdict_of(row.run)
        ended = bool(verdict) and row.status == Status.FINISHED
        verdicts.append(verdict if ended else f"{row.status}: {verdict}".rstrip(": "))
    columns = {
        "run": [row.run.id for row in rows],
        "started": [words.moment(row.run.started_at)[5:16] for row in rows],
        "command": [words.short(command, WHAT) for command in commands],
        "folder": [shortened(row.folder, FOLDER) for row in rows],
        "verdict": [words.short(verdict, VERDICT) for verdict in verdicts],
        "metric": [row.metric for row in rows],
        "cost": [row.cost for row in rows],
        "time": [words.time_of(row.seconds) for row in rows],
    }
    table = {name: cells for name, cells in columns.items() if any(cells)}
    shown = ""
    if len(found) != total:
        shown = f", the newest {len(found)} shown"
    verdict = f"{words.counted(total, 'run')}{shown}. One of them: reenact runs show RUN"
    if not total:
        verdict = "No runs recorded here yet."
    blocks = (
        (
            Table(
                "",
                tuple(table),
                tuple(zip(*table.values(), strict=True)),
            ),
        )
        if rows
        else ()
    )
    data: JsonValue = {
        "total": total,
        "runs": [words.run_data(run, status) for run, status in found],
    }
    return Document("runs", "Recorded runs", verdict, blocks, data=data)


def run_document(
    run: Run,
    status: str,
    steps: Sequence[Step],
    limit: int,
) -> Document:
    """One run with the tree of its steps."""
    rest = (
        "verdict",
        "request",
        "command",
        "started",
        "time",
        "steps",
        "cost",
        "tokens",
        "version",
    )
    stands = (
        "status",
        f"{status}{', imported' if run.imported else ''}",
    )
    facts = (
        *words.run_facts(run, "pipeline", "what"),
        stands,
        *words.run_facts(run, *rest),
    )
    more = ""
    if len(steps) > limit:
        more = f"\n... and {len(steps) - limit} more; --limit shows them"
    verdict = f"{status}: {words.sentence_of(run) or 'no verdict yet'}"
    blocks = (
        Facts("", facts),
        Text(
            words.tree(steps[:limit]) + more,
            "Steps",
        ),
    )
    listed: JsonValue = [words.step_data(step) for step in steps[:limit]]
    data: JsonValue = {
        "run": words.run_data(run, status),
        "steps": listed,
    }
    return Document(
        "run",
        f"Run {run.id}",
        verdict,
        blocks,
        data=data,
    )


def step_document(run: Run, step: Step, inputs: Any, result: Any) -> Document:
    """One step with what went in and what came out."""
    known = words.step_data(step)
    facts = tuple((name, str(value)) for name, value in known.items() if value not in (None, ""))
    verdict = (
        f"{words.state_of(step)}, {words.counted(step.tries, 'try')}, "
        f"{words.time_of(step.duration_s)}"
    )
    went = {
        "Inputs": inputs,
        "Result": result,
    }.items()
    texts = (
        Text(
            words.readable(value, words.SHOWN_VALUE),
            title,
        )
        for title, value in went
    )
    data = {
        "step": known,
        "inputs": words.as_json(inputs),
        "result": words.as_json(result),
    }
    title = f"Step {step.path} of run {run.id}"
    return Document(
        "step",
        title,
        verdict,
        (Facts("", facts), *texts),
        data=data,
    )


def answer_document(answer: QueryAnswer, limit: int) -> Document:
    """Rows of a query."""
    rows = tuple(tuple("" if value is None else str(value) for value in row) for row in answer.rows)
    more = f"; there are more, --limit is {limit}" if answer.cut else ""
    blocks = (Table("", answer.columns, rows),) if rows else ()
    listed = [list(map(words.as_json, row)) for row in answer.rows]
    data: JsonValue = {
        "columns": list(answer.columns),
        "rows": listed,
        "cut": answer.cut,
    }
    return Document(
        "runs-query",
        "QueryAnswer",
        f"{words.counted(len(rows), 'row')}{more}.",
        blocks,
        data=data,
    )


def check_document(checked: Checked) -> Document:
    """What a check found."""
    counts = {
        "run": checked.runs,
        "step": checked.steps,
        "artefact": checked.artefacts,
    }
    read = ", ".join(words.counted(count, what) for what, count in counts.items())
    problems = tuple((problem,) for problem in checked.problems)
    verdict = (
        f"{read}: "
        f"{words.counted(len(problems), 'problem') if problems else 'all as it was written'}."
    )
    blocks = (Table("", ("problem",), problems),) if problems else ()
    return Document(
        "runs-check",
        "Check of the journal",
        verdict,
        blocks,
        data=encoded(checked),
    )
