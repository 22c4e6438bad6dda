"""Full runs: a measure is what a run that ended well left in its file, and nothing else."""

from __future__ import annotations

import os
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.journal import Journal
from reenact.paper.measure.runs import (
    FullRun,
    _at_once,
    full_runs,
    metric_names,
    values,
)


def measured(
    project: Project, context: Any, journal: Journal, seeds: tuple[int, ...]
) -> tuple[FullRun, ...]:
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        return full_runs(project, context.runner, run, seeds, context.options, context.say)


def test_each_seed_is_measured_from_its_file(
    project: Project, context: Any, journal: Journal
) -> None:
    found = measured(project, context(), journal, (0, 1, 2))
    assert values(found, "accuracy") == {0: 0.9, 1: 0.91, 2: 0.92}
    assert metric_names(found) == ("accuracy", "steps")
    assert all(one.ok and one.wall_s > 0 for one in found)
    assert "believe me" in found[0].output


@pytest.mark.release
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_once_a_run_counts_the_other_seeds_run_beside_one_another(
    project: Project, context: Any, journal: Journal
) -> None:
    slow = project.changed({"train.py": f"import time\ntime.sleep(2)\n{project.files['train.py']}"})
    found = measured(slow, context(), journal, (0, 1, 2))
    assert values(found, "accuracy") == {0: 0.9, 1: 0.91, 2: 0.92}, "in the order of the seeds"
    boxes = [one for one in journal.steps(journal.find("last")) if one.path.endswith("/full-run")]
    first, second, third = sorted(boxes, key=lambda one: one.started_at)
    assert (first.ended_at or "") <= second.started_at
    assert third.started_at < (second.ended_at or "")


def test_runs_beside_one_another_fit_into_the_memory() -> None:
    assert _at_once(1e9) == 1
    assert 1 <= _at_once(1.0) <= len(os.sched_getaffinity(0))


def test_the_scale_is_handed_on_and_kept(project: Project, context: Any, journal: Journal) -> None:
    (only,) = measured(project, context(scale=0.5), journal, (0,))
    assert (only.metrics["accuracy"], only.scale) == (0.45, 0.5)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("raise SystemExit(4)", "exit code 4"),
        ("import os; os.remove('metrics.json')", "left no metrics.json"),
        (
            "open('metrics.json', 'w').write('{\"accuracy\": {\"test\": 1}}')",
            "flat names",
        ),
        ("open('metrics.json', 'w').write('[1]')", "must hold an object"),
        ("open('metrics.json', 'w').write('{\"accuracy\": true}')", "accuracy=True"),
    ],
)
def test_metrics_of_a_run_that_failed_are_no_measure(
    project: Project, context: Any, journal: Journal, line: str, why: str
) -> None:
    bad = project.changed({"train.py": f"{project.files['train.py']}{line}\n"})
    (only,) = measured(bad, context(), journal, (0,))
    assert not only.ok
    assert why in only.why
    assert values((only,), "accuracy") == {}


@pytest.mark.sample(2)
@pytest.mark.parametrize("line", ["while True: pass", "time.sleep(600)"])
def test_a_run_without_enough_time_says_what_gives_it_more(
    project: Project, context: Any, journal: Journal, line: str
) -> None:
    endless = project.changed({"train.py": f"import time\n\n{line}\n"})
    (only,) = measured(endless, context(run_wall_s=1.0), journal, (0, 1, 2))
    assert only.late
    assert "time: more than" in only.why
    assert "--run-wall" in only.why
    assert "--scale" in only.why


def test_cpu_time_decides_and_wall_time_is_the_backstop(
    project: Project, context: Any, journal: Journal
) -> None:
    limits = context().runner.limits(3.0)
    assert (limits.cpu_s, limits.wall_s) == (3.0, 12.0)
    waiting = project.changed(
        {"train.py": f"import time\ntime.sleep(4)\n{project.files['train.py']}"}
    )
    (only,) = measured(waiting, context(run_wall_s=3.0), journal, (0,))
    assert only.ok, "it waited longer than it may compute"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "line", ["", "import os; os.remove('metrics.json'); print('accuracy: 0.9')\n"]
)
def test_metrics_from_before_the_end_of_time_are_partial_and_not_counted(
    project: Project, context: Any, journal: Journal, line: str
) -> None:
    late = project.changed(
        {"train.py": f"{project.files['train.py']}{line}import time\ntime.sleep(600)\n"}
    )
    (only,) = measured(late, context(run_wall_s=1.0), journal, (0, 1))
    assert only.partial["accuracy"] == 0.9
    assert "accuracy=0.9" in only.why
    assert "partial, and not counted" in only.why
    assert (only.ok, only.metrics, values((only,), "accuracy")) == (False, {}, {})


def test_a_file_from_before_the_run_is_not_there(
    project: Project, context: Any, journal: Journal
) -> None:
    (only,) = measured(
        project.changed({"train.py": "print('accuracy: 1.0')\n"}),
        context(),
        journal,
        (0,),
    )
    assert only.why == "The run ended well but left no metrics.json."


def test_after_two_failures_the_others_are_not_paid_for(
    project: Project, context: Any, journal: Journal
) -> None:
    assert (
        len(measured(project.changed({"train.py": "1/0\n"}), context(), journal, (0, 1, 2, 3))) == 2
    )


LOGGED = """import csv, os
with open("curve.csv", "w") as log:
    for epoch in range(1, 4):
        log.write(f"{'epoch,loss' if epoch == 1 else ''}\\n{epoch},{1 / (epoch + seed)}\\n".lstrip())
"""


def test_curves_are_read_from_what_the_run_prints(
    project: Project, context: Any, journal: Journal
) -> None:
    line = (
        'for epoch in range(1, 2001): print(f"ours: epoch {epoch} of 2000, loss {1 / epoch:.5f}" + '
        '" " * 20)'
    )
    chatty = project.changed({"train.py": f"{project.files['train.py']}{line}\n"})
    (only,) = measured(chatty, context(), journal, (0,))
    (curve,) = only.curves
    assert only.ok
    assert (curve.metric, curve.label, curve.axis, curve.at[-1]) == (
        "loss",
        "ours",
        "epoch",
        2000,
    )
    assert curve.at[0] == 1, "what was printed first is not in the tail of the output"


def test_curves_are_read_from_the_log_that_the_code_names(
    project: Project, context: Any, journal: Journal
) -> None:
    logging = project.changed({"train.py": f"{project.files['train.py']}{LOGGED}"})
    found = measured(logging, context(), journal, (0, 1))
    assert [one.curves[0].values for one in found] == [
        (1.0, 0.5, 1 / 3),
        (0.5, 1 / 3, 0.25),
    ]


def test_a_log_that_may_not_be_read_is_no_reason_to_refuse_the_run(
    project: Project, context: Any, journal: Journal
) -> None:
    link = 'import os; os.symlink("/etc/passwd", "curve.csv")'
    (only,) = measured(
        project.changed({"train.py": f"{project.files['train.py']}{link}\n"}),
        context(),
        journal,
        (0,),
    )
    assert only.ok
    assert (only.metrics["accuracy"], only.curves) == (0.9, ())
    link = link.replace("curve.csv", "metrics.json").replace(
        "import os;", "import os; os.remove('metrics.json');"
    )
    (only,) = measured(
        project.changed({"train.py": f"{project.files['train.py']}{link}\n"}),
        context(),
        journal,
        (1,),
    )
    assert not only.ok
