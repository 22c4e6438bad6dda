"""`python -m benchmarks train-detector`: make the learned detector from nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from benchmarks.detector.fit import SHIPPED
from benchmarks.detector.judgement import Judgement
from benchmarks.detector.learn import Learned, LearnOptions, LearnServices, learn
from benchmarks.detector.page import page, score_table
from reenact.cli.calling import stopping_gently
from reenact.cli.options import WORKERS, output_format, show
from reenact.journal import Journal
from reenact.report.document import Document, Facts
from reenact.report.progress import telling
from reenact.settings import resolve
from reenact.types import ExitCode


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("detector.npz"),
    show_default=True,
    help="Where the model goes.",
)
@click.option(
    "--page",
    "written",
    type=click.Path(path_type=Path),
    help="Write the page of scores here.",
)
@click.option(
    "--curve",
    type=click.Path(path_type=Path),
    help="Write here how often the rules are right when they are so sure.",
)
@click.option(
    "--work",
    type=click.Path(path_type=Path),
    help="Folder for trainings; default: below the runs.",
)
@click.option("--quick", is_flag=True, help="A third of the mutants: to try the machinery.")
@click.option("--workers", type=WORKERS, default=0, help="Trainings at once; default: one a core.")
@output_format
def train_detector(
    out: Path,
    written: Path | None,
    curve: Path | None,
    work: Path | None,
    quick: bool,
    workers: int,
    output_format: str,
) -> ExitCode:
    """Train base programs and their mutants, learn from the traces, and say how good that is.

    Takes some 20 minutes of CPU time. The same command continues an interrupted one; no training is
    done twice. Needs scikit-learn: pip install 'reenact[learn]'.
    """
    settings = resolve({}).settings
    folder = (work or settings.runs_dir / "detector").resolve()
    options = LearnOptions(work=folder, quick=quick, workers=workers)
    with (
        Journal.open(settings.runs_dir) as journal,
        stopping_gently(settings.max_time) as stop,
        telling() as tell,
    ):
        found = learn(
            options,
            LearnServices(journal=journal, tell=tell, stop=stop, argv=tuple(sys.argv[1:])),
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    found.forest.save(out)
    if written is not None:
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(page(found), encoding="utf-8")
    if curve is not None:
        curve.parent.mkdir(parents=True, exist_ok=True)
        curve.write_text(json.dumps(found.judgement.curve.to_json()) + "\n", encoding="utf-8")
    show(_document(found, out), output_format)
    return ExitCode.OK


def _document(found: Learned, out: Path) -> Document:
    strict = found.report.one_program_out[SHIPPED]
    facts = {
        "trainings": f"{found.trainings}, {found.cpu_seconds:.0f} s of CPU time",
        "learned from": f"{len(found.data.x)} of them, {len(found.data.base_names)} base programs",
        "model": f"{out} ({out.stat().st_size / 1000:.0f} kB)",
        "rules": _worth(found.judgement),
        "false alarms": (
            f"{strict.false_alarms:.2f} of healthy trainings of programs not learned from"
        ),
    }
    return Document(
        "train-detector",
        "Learned detector",
        f"F1 {strict.f1:.2f} over {len(found.data.classes)} classes, on programs not learned from.",
        (
            Facts("", tuple(facts.items())),
            score_table(found.report.one_program_out, "One program left out"),
        ),
        data=found.to_json(),
    )


def _worth(judgement: Judgement) -> str:
    return (
        f"{len(judgement.statements)} suspects; squared error of confidence "
        f"{judgement.brier:.3f}, by a curve through others {judgement.brier_by_curve:.3f}, a "
        f"share {judgement.brier_of_share:.3f}"
    )
