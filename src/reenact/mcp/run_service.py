"""Runs and jobs in a few fields: what a poll answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reenact.errors import InputError, JournalError, StorageError
from reenact.journal import JournalReader, Run
from reenact.llm.relay import waiting
from reenact.mcp.answers import RunTold
from reenact.mcp.jobs import BIRTHS_APART, Job, Jobs
from reenact.mcp.words import relay_of

LATELY = 200
"""How far back the run of a job is looked for."""
STARTING, RUNNING, FAILED = "starting", "running", "failed"
AT_WORK = (STARTING, RUNNING)


@dataclass(frozen=True, slots=True)
class RunService:
    """Where the runs and the jobs are."""

    runs_dir: Path
    jobs: Jobs

    def told(self, name: str) -> RunTold:
        """How a job or a run stands, by its id. InputError when there is no such one."""
        job = self.jobs.find(name)
        if not (self.runs_dir / "journal.db").exists():
            if job is None:
                JournalReader.open(self.runs_dir)
            assert job is not None
            return self._of_job(job)
        try:
            shelf = JournalReader.open(self.runs_dir)
        except (JournalError, StorageError):
            # The first job of a folder is still making the journal.
            if job is None or not self.jobs.is_alive(job):
                raise
            return self._of_job(job)
        with shelf:
            run = _run_of(job, shelf) if job is not None else shelf.find(name)
            if run is None:
                assert job is not None
                return self._of_job(job)
            job = job or self._job_of(run, shelf)
            return self._of_run(run, shelf.status_of(run), job)

    def listed(self, *, story: str | None, search: str | None, limit: int) -> tuple[int, list[RunTold]]:
        """Recorded runs, newest first, and how many there are."""
        if not (self.runs_dir / "journal.db").exists():
            return 0, []
        with JournalReader.open(self.runs_dir) as shelf:
            found = shelf.runs(pipeline=story, text=search, limit=limit)
            total = shelf.count(pipeline=story, text=search)
            return total, [told_run(run, shelf.status_of(run)) for run in found]

    def job(self, name: str) -> Job:
        """The job of that id, or the one that works on the run of that id."""
        job = self.jobs.find(name)
        if job is None:
            with JournalReader.open(self.runs_dir) as shelf:
                job = self._job_of(shelf.find(name), shelf)
        if job is None:
            raise InputError(
                f"No job of this server works on {name!r}: it was started elsewhere.",
                next_step="Stop it where it was started.",
            )
        return job

    def relay(self, name: str) -> Path:
        """The folder of requests of a run that asks the model `mcp`."""
        job = self.jobs.find(name)
        words = job.words if job is not None else ()
        if job is None:
            with JournalReader.open(self.runs_dir) as shelf:
                words = shelf.find(name).command()
        folder = relay_of(words, self.jobs.folder)
        if folder is None:
            raise InputError(
                f"{name!r} asks another model than this client.", next_step="Start it with model='mcp'."
            )
        return folder

    def _of_run(self, run: Run, standing: str, job: Job | None) -> RunTold:
        told = told_run(run, standing)
        if job is not None:
            told.job, told.said = job.id, self.jobs.said(job)
            if standing != RUNNING and self.jobs.is_alive(job):
                # On its way to the run that it continues, or still writing what came of it.
                told.status = RUNNING if job.pid == run.pid else STARTING
                told.exit_code = None
        folder = relay_of(run.command(), self.jobs.folder)
        if standing == RUNNING and folder is not None and folder.is_dir():
            told.waiting = [one.id for one in waiting(folder)]
        told.next = _next(told)
        return told

    def _of_job(self, job: Job) -> RunTold:
        alive, code = self.jobs.is_alive(job), self.jobs.exit_code(job)
        said = self.jobs.said(job)
        told = RunTold(id="", job=job.id, story=job.story, status=STARTING if alive else FAILED, said=said)
        told.exit_code = code
        told.verdict = "" if alive else next((line for line in said if line.startswith("reenact:")), "")
        told.next = _next(told)
        return told

    def _job_of(self, run: Run, shelf: JournalReader) -> Job | None:
        for job in reversed(self.jobs.all()):
            found = _run_of(job, shelf)
            if found is not None and found.id == run.id:
                return job
        return None


def told_run(run: Run, standing: str) -> RunTold:
    """A run in a few fields."""
    return RunTold(
        id=run.id,
        story=run.pipeline,
        what=run.what,
        status=standing,
        verdict=_verdict(run),
        exit_code=run.exit_code,
        steps=run.steps,
        seconds=round(run.worked_s, 1),
        money=run.money,
        tokens=run.tokens_in + run.tokens_out,
    )


def _run_of(job: Job, shelf: JournalReader) -> Run | None:
    """The newest run of the job's story that its process worked on."""
    if job.run:
        return shelf.find(job.run)
    lately = shelf.runs(pipeline=job.story, limit=LATELY)
    return next((run for run in lately if run.pid == job.pid and not _ended_before(run, job)), None)


def _ended_before(run: Run, job: Job) -> bool:
    """Process numbers come again: a run that had ended when the job began is another's."""
    if run.ended_at is None:
        return False
    return datetime.fromisoformat(run.ended_at).timestamp() < job.born - BIRTHS_APART


def _verdict(run: Run) -> str:
    if run.error_type:
        return f"{run.error_type}: {run.error}".removesuffix(": ")
    told = run.verdict_data()
    if isinstance(told, dict):
        known = (told.get(name) for name in ("sentence", "verdict", "decision"))
        return next((str(value) for value in known if value), "")
    return str(told or "")


def _next(told: RunTold) -> str:
    if told.waiting:
        return "Answer what waits: request, answer. Then poll."
    if told.status in AT_WORK:
        return "poll"
    if told.status == "finished":
        return "result"
    return "resume" if told.id else "Read `said`, mend it, start again."
