"""The types of answers, small, with ids to go on with: runs and jobs in a few fields, and a result,
shortened to what an agent needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, field_validator

from reenact.api.reference import load_run
from reenact.errors import InputError, JournalError, StorageError
from reenact.faults.registry import all_detectors
from reenact.jobs import Job, Jobs
from reenact.journal import JournalReader, Run
from reenact.llm.relay import waiting
from reenact.plain import plain
from reenact.report.run_words import sentence_of
from reenact.types import ExitCode

STARTING = "starting"
RUNNING = "running"
FAILED = "failed"
AT_WORK = (STARTING, RUNNING)
SHOWN, LONGEST_LINE = 8, 200
"""Lines of the output of a job, and letters of each."""
RELAY = "--model=relay:"
NEXT: Mapping[tuple[str, int | None], str] = {
    ("diagnose", ExitCode.FOUND): "repair",
    ("repair", ExitCode.OK): "apply",
}
"""What follows a finished run, by command and exit code."""
KEPT: Mapping[str, tuple[str, ...]] = {
    "diagnose": (
        "depth",
        "task",
        "metric",
        "findings",
        "opinions",
        "hypotheses",
        "symptoms",
        "notes",
    ),
    "repair": (
        "decision",
        "sentence",
        "diff",
        "complexity",
        "why",
        "verdicts",
        "trainings",
        "notes",
    ),
    "test-hypothesis": ("status", "reason", "gates", "red", "green", "effect"),
    "bug": (
        "verdict",
        "reason",
        "script",
        "seeds_shown",
        "seeds_run",
        "folder",
        "written",
        "findings",
        "notes",
    ),
    "paper": (
        "title",
        "goal",
        "verdict",
        "reason",
        "gap",
        "criteria",
        "passed",
        "scale",
        "comparisons",
        "gap_repair",
        "notes",
    ),
}
"""The keys of a result that are passed on, by command; of a command that is not listed, all."""
PASSED = {True: "passed", False: "NOT PASSED", None: "not asked"}
NOT_KEPT = frozenset(
    {
        "witnesses",
        "suggestions",
        "candidates",
        "fix",
        "dropped_fixes",
        "patch",
        "attempts",
        "looks",
        "curves",
    }
)
TEXT = 4_000
ITEMS = 12
DEPTH = 5


class RunStatus(BaseModel):
    """The state of a run, or of a job on its way to being one; its texts hold nothing that a terminal would
    obey or a reader could not see."""

    id: str
    """Of the run; empty while the job has not begun to record."""
    job: str = ""
    """Of the job, when this server or an earlier one started it."""
    command: str
    what: str = ""
    status: str
    """starting, running, finished, failed, stopped or interrupted."""
    verdict: str = ""
    exit_code: int | None = None
    steps: int = 0
    """Recorded so far."""
    seconds: float = 0.0
    money: str = "0"
    """US dollars paid to models."""
    tokens: int = 0
    doing: str = ""
    """What it does now, while it runs."""
    percent: int | None = None
    """How much of that is done; left out where its length is unknown."""
    left_s: int | None = None
    """Seconds until that is done; left out where unknown."""
    output: list[str] = Field(default_factory=list)
    """The last lines that the job printed."""
    waiting: list[str] = Field(default_factory=list)
    """Requests to the model `mcp` without an answer."""
    next: str = ""
    """What to call next."""

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        if isinstance(value, list):
            return [cls._plain(item) for item in value]
        if type(value) is str:
            return plain(value)
        return value


@dataclass(frozen=True, slots=True)
class RunService:
    """Where the runs and the jobs are."""

    runs_dir: Path
    jobs: Jobs

    @property
    def relays(self) -> Path:
        """Below it are the requests of runs that ask the model `mcp`."""
        return self.runs_dir / "mcp"

    @property
    def claims(self) -> Path:
        """Edits and checks that an agent gave as text."""
        return self.runs_dir / "mcp" / "claims"

    def status(self, name: str) -> RunStatus:
        """The state of a job or a run, by its id. InputError when there is no such one."""
        job = self.jobs.find(name)
        if job is not None and not (self.runs_dir / "journal.db").exists():
            return self._of_job(job)
        try:
            shelf = JournalReader.open(self.runs_dir)
        except (JournalError, StorageError):
            # The first job of a folder is still making the journal.
            if job is None or not self.jobs.is_alive(job):
                raise
            return self._of_job(job)
        with shelf:
            run = self._run_of(job, shelf) if job is not None else shelf.find(name)
            if job is not None and run is None:
                return self._of_job(job)
            assert run is not None
            return self._of_run(
                run,
                shelf.status_of(run),
                job or self._job_of(run, shelf),
            )

    def answer(self, status: RunStatus) -> dict[str, Any]:
        """A state as a tool answers with it; what came of a run that has ended is in it."""
        data: dict[str, Any] = status.model_dump(exclude_none=True)
        if status.status in AT_WORK or not status.id:
            return data
        run = load_run(status.id, runs_dir=self.runs_dir)
        short = shortened(run.result, status.command)
        data |= {
            "stale": plain(run.stale),
            "reused": plain(run.reused),
        }
        return {
            **data,
            "result": without_empty(short) if isinstance(short, dict) else {"verdict": short},
        }

    def listed(
        self, *, command: str | None, search: str | None, limit: int
    ) -> tuple[int, list[RunStatus]]:
        """Recorded runs, newest first, and how many there are."""
        if not (self.runs_dir / "journal.db").exists():
            return 0, []
        with JournalReader.open(self.runs_dir) as shelf:
            runs = shelf.runs(pipeline=command, text=search, limit=limit)
            total = shelf.count(pipeline=command, text=search)
            return total, [_status(run, shelf.status_of(run)) for run in runs]

    def job(self, name: str) -> Job:
        """The job of that id, or the one that works on the run of that id."""
        job = self.jobs.find(name)
        if job is None:
            with JournalReader.open(self.runs_dir) as shelf:
                job = self._job_of(shelf.find(name), shelf)
        if job is None:
            says = f"No job of this server works on {name!r}: it was started elsewhere."
            raise InputError(says, next_step="Stop it where it was started.")
        return job

    def relay(self, name: str) -> Path:
        """The folder of requests of a run that asks the model `mcp`."""
        job = self.jobs.find(name)
        words = job.words if job is not None else ()
        if job is None or job.run:
            with JournalReader.open(self.runs_dir) as shelf:
                words = shelf.find(job.run if job is not None else name).command()
        folder = relay_of(words, self.relays)
        if folder is None:
            says = f"{name!r} asks another model than this client."
            raise InputError(says, next_step="Start it with model='mcp'.")
        return folder

    def _of_run(self, run: Run, state: str, job: Job | None) -> RunStatus:
        status = _status(run, state)
        if job is not None:
            status.job, status.output = job.id, self._output(job)
            if state != RUNNING and self.jobs.is_alive(job):
                # On its way to the run that it continues, or still writing its result.
                status.status = RUNNING if job.pid == run.pid else STARTING
                status.exit_code = None
            if status.status in AT_WORK:
                self._add_stage(status, job)
        folder = relay_of(run.command(), self.relays)
        if state == RUNNING and folder is not None and folder.is_dir():
            status.waiting = [one.id for one in waiting(folder)]
        status.next = _next(status)
        return status

    def _of_job(self, job: Job) -> RunStatus:
        output = self._output(job)
        status = RunStatus(
            id="",
            job=job.id,
            command=job.command,
            status=STARTING,
            output=output,
        )
        if not self.jobs.is_alive(job):
            status.status = FAILED
            status.verdict = next(
                (line for line in output if line.startswith("reenact:")),
                "",
            )
        status.exit_code = self.jobs.exit_code(job)
        status.next = _next(status)
        return status

    def _add_stage(self, status: RunStatus, job: Job) -> None:
        stage = self.jobs.stage(job)
        if stage is None:
            return
        status.doing = stage.doing
        status.percent = stage.percent
        if stage.left_s is not None:
            status.left_s = round(stage.left_s)

    def _output(self, job: Job) -> list[str]:
        return [line[:LONGEST_LINE] for line in self.jobs.output(job).splitlines() if line.strip()][
            -SHOWN:
        ]

    def _run_of(self, job: Job, shelf: JournalReader) -> Run | None:
        runs = self.jobs.runs_of(job, shelf)
        return next(
            (run for run in runs if job.run or run.pipeline == job.command),
            None,
        )

    def _job_of(self, run: Run, shelf: JournalReader) -> Job | None:
        jobs = ((job, self._run_of(job, shelf)) for job in reversed(self.jobs.all()))
        return next(
            (job for job, own in jobs if own is not None and own.id == run.id),
            None,
        )


def relay_of(command: Sequence[str], folder: Path) -> Path | None:
    """The relay folder that a command of ours names; none when it asks another model."""
    paths = (Path(word.removeprefix(RELAY)) for word in command if word.startswith(RELAY))
    return next(
        (path for path in paths if path.parent == folder),
        None,
    )


def _status(run: Run, state: str) -> RunStatus:
    status = RunStatus(
        id=run.id, command=run.pipeline, what=run.what, status=state, money=run.money
    )
    status.verdict = plain(sentence_of(run))
    status.exit_code = run.exit_code
    status.steps = run.steps
    status.seconds = round(run.worked_s, 1)
    status.tokens = run.tokens_in + run.tokens_out
    return status


def _next(status: RunStatus) -> str:
    if status.waiting:
        return "Answer what waits: request, answer. Then result."
    if status.status in AT_WORK:
        return "result"
    if status.status == "finished":
        return NEXT.get((status.command, status.exit_code), "")
    return "resume" if status.id else "Read `output`, fix it, start again."


ALWAYS = "findings"
"""An agent must see that there is none."""


def without_empty(value: Any) -> Any:
    """The same without fields that say nothing: null, an empty text, list or object."""
    if isinstance(value, dict):
        fields = {name: without_empty(one) for name, one in value.items()}
        return {
            name: one
            for name, one in fields.items()
            if name == ALWAYS or one not in (None, "", [], {})
        }
    if isinstance(value, list):
        return [without_empty(one) for one in value]
    return value


def shortened(
    value: Any,
    command: str = "",
    *,
    items: int = ITEMS,
    depth: int = DEPTH,
) -> Any:
    """JSON with long texts, lists and nestings cut, and each finding in a few fields.

    Texts hold nothing that a terminal would obey or a reader could not see.
    """
    if isinstance(value, str):
        text = plain(value)
        if len(text) <= TEXT:
            return text
        return f"{text[:TEXT]}... ({len(text) - TEXT} more letters)"
    if isinstance(value, dict):
        if depth == 0:
            return f"({len(value)} fields)"
        if "gate" in value:
            return _gate(value)
        wanted = KEPT.get(command, tuple(value))
        kept = {name: value[name] for name in wanted if name in value and name not in NOT_KEPT}
        # Nested below the whole: its finding, its comparison, ...
        short = {
            plain(str(name)): shortened(
                one,
                items=items,
                depth=depth - 1,
            )
            for name, one in kept.items()
        }
        if value.get("witnesses"):
            return {
                **_witness(value),
                **short,
            }
        return short
    if isinstance(value, list | tuple):
        shown = []
        if depth:
            shown = [
                shortened(
                    item,
                    items=items,
                    depth=depth - 1,
                )
                for item in value[:items]
            ]
        if len(value) > len(shown):
            return [
                *shown,
                f"({len(value) - len(shown)} more)",
            ]
        return shown
    return value


def _headline(finding: Mapping[str, Any]) -> Mapping[str, Any]:
    """The witness by which the command line names a finding: the surest that is about this very
    fault.
    """
    named = finding.get("code")
    about = {one.code: one.study.value for one in all_detectors() if one.study is not None}
    witnesses: Sequence[Mapping[str, Any]] = finding["witnesses"]
    return next(
        (
            one
            for one in witnesses
            if one["code"] == named
            or (not named and about.get(one["code"]) == finding.get("fault", ""))
        ),
        witnesses[0],
    )


def _gate(gate: Mapping[str, Any]) -> str:
    """A gate of a tested claim in a line: its name, whether it was passed, what was seen."""
    line = f"{gate['gate']}: {PASSED[gate['passed']]}"
    return plain(f"{line} ({gate['saw']})" if gate["saw"] else line)


def _witness(finding: Mapping[str, Any]) -> dict[str, str]:
    """Of a finding: the detector, what was seen and why it is wrong, and what to set to what."""
    first = _headline(finding)
    # A run of an earlier version has the diff alone.
    fix = finding.get("fix") or {"diff": "", "tried": "", "reason": ""}
    if isinstance(fix, str):
        fix = {"diff": fix, "tried": "not tried", "reason": ""}
    changes = [
        f"{each['knob']} = {each['new']}" for each in finding.get("suggestions", ()) if each["knob"]
    ]
    facts = {
        "code": first["code"],
        "name": first["name"],
        "message": f"{first['saw']}. {first['why']}",
        "change": changes[0] if changes else "",
        "fix": fix["diff"],
        "fix_tried": f"{fix['tried']}: {fix['reason']}" if fix["reason"] else fix["tried"],
    }
    return {name: plain(text) for name, text in facts.items() if text}
