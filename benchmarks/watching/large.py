"""`python -m benchmarks probe --large`: memory of the probe beside a hundred million parameters and
eight data workers, and how long a trace of a day takes to read.
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

from benchmarks.scorecard import Goal, Scorecard, Table
from benchmarks.watching.runs import Case, Training, train_alone, train_watched
from reenact.errors import Inconclusive
from reenact.probe.injected import part
from reenact.probe.read import read_trace
from reenact.types import Progress, Stop, Tell

SCRIPTS = Path(__file__).parents[1] / "cases" / "probe_large"
CASES = (
    Case("1e8 parameters", SCRIPTS / "torch_wide.py", "torch"),
    Case("8 data workers", SCRIPTS / "torch_workers.py", "torch"),
)
PRESETS = ("quick", "normal")
MOST_MB, MOST_READ_S = 200.0, 1.0
DAY_S, STEPS_A_SECOND, LAYERS = 86_400, 10, 40
_MEMORY = re.compile(r"^memory (\d+\.\d+) MB$", re.MULTILINE)


def measure_large(*, tell: Tell, stop: Stop) -> Scorecard:
    """Each program alone and under each preset; then the trace of a day."""
    rows, worst = [], 0.0
    for case in CASES:
        tell(Progress("probe", note=case.name))
        alone = train_alone(case, stop=stop)
        for preset in PRESETS:
            watched = train_watched(case, preset, stop=stop)
            more = _memory(watched) - _memory(alone)
            worst = max(worst, more)
            ratio = watched.cpu_seconds / alone.cpu_seconds
            rows.append(
                (
                    case.name,
                    preset,
                    f"{_memory(alone):.0f}",
                    f"{more:+.0f}",
                    f"{ratio:.2f}",
                )
            )
    tell(Progress("probe", note="a trace of a day"))
    with tempfile.TemporaryDirectory(prefix="reenact-day-") as folder:
        write_day(Path(folder) / "trace")
        size = sum(file.stat().st_size for file in (Path(folder) / "trace").iterdir()) / (1 << 20)
        seconds = min(_reading(Path(folder) / "trace") for _ in range(3))
    return Scorecard(
        name="probe-large",
        figures=f"at most {worst:+.0f} MB; a day is read in {seconds:.2f} s",
        goals=(
            Goal(
                "memory of the probe",
                f"<= {MOST_MB:g} MB",
                f"{worst:.0f} MB",
                worst <= MOST_MB,
            ),
            Goal(
                "a trace of a day is read",
                f"<= {MOST_READ_S:g} s",
                f"{seconds:.2f} s",
                seconds <= MOST_READ_S,
            ),
        ),
        tables=(
            Table(
                "Beside large things",
                ("program", "preset", "alone, MB", "probe, MB", "CPU ratio"),
                tuple(rows),
            ),
            Table(
                "A trace of a day",
                ("steps", "size, MiB", "read in, CPU s"),
                ((str(DAY_S * STEPS_A_SECOND), f"{size:.0f}", f"{seconds:.2f}"),),
            ),
        ),
        facts={"worst_mb": worst, "read_s": seconds},
    )


def _memory(training: Training) -> float:
    found = _MEMORY.search(training.printed)
    if found is None:
        raise Inconclusive(
            f"A program did not say what memory it took: {training.printed[-200:]!r}"
        )
    return float(found[1])


def _reading(folder: Path) -> float:
    """Seconds of processor time: others may use the machine too."""
    began = time.process_time()
    trace = read_trace(folder)
    seconds = time.process_time() - began
    if not trace.step_count:
        raise Inconclusive("The trace of a day holds no step.")
    return seconds


def write_day(folder: Path, seconds: int = DAY_S) -> None:
    """What the recorder would have written in so many seconds, by its own hand, without the
    waiting.
    """
    config, recorder_module, folders = part("config"), part("recorder"), part("folder")
    recorder = recorder_module.Recorder(config.Config(str(folder), preset="quick"))
    assert recorder.owned
    recorder.write_header(layers=[f"layer{number}" for number in range(LAYERS)])
    nan = float("nan")
    width = {name: len(columns) for name, columns in folders.COLUMNS.items()}
    due, now = 2.0, 0.0
    for step in range(seconds * STEPS_A_SECOND):
        now = step / STEPS_A_SECOND
        recorder.step = step
        row = [nan] * width["steps"]
        row[:7] = [
            float(step),
            now,
            float(step // 36_000),
            1.0 / (1 + step),
            0.001,
            32.0,
            1.0,
        ]
        recorder.tables["steps"].add(tuple(row))
        if step % 50 == 0:
            for layer in range(LAYERS):
                recorder.tables["layers"].add(
                    (float(step), float(layer), *[0.5] * (width["layers"] - 2))
                )
        if now >= due:
            recorder.flush()
            due = now + max(recorder.FLUSH_SECONDS, now / 50)
    recorder.close({"error": None})
