"""A change goes to the place that holds the value, wherever that is; and not over what was not
committed.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import reenact
from reenact.errors import InputError
from reenact.journal import Journal
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.repairs.apply import BACKUP, commit_on_branch, write
from reenact.repairs.verdict import Decision, Judging, Repair, Verdict
from reenact.testing.strategy import set_to
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure
from reenact.trials.statistics import compare
from reenact.trials.trial import Part, Trial

LOOP = """    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr={rate})
    for epoch in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
"""
SCRIPT = "import torch\n{first}def main({given}):\n" + LOOP + "main()\n"
HYDRA = (
    """import hydra
import torch
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
"""
    + LOOP.format(rate="cfg.optimizer.lr")
    + 'if __name__ == "__main__":\n    main()\n'
)
CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Train\n"]},
    {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [],
        "source": ["import torch\n", "%matplotlib inline\n", "rate = 0.5\n"],
    },
    {
        "cell_type": "code",
        "execution_count": 2,
        "metadata": {"tags": ["keep"]},
        "outputs": [],
        "source": "if True:\n" + LOOP.format(rate="rate"),
    },
]
NOTEBOOK = (
    json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    + "\n"
)
PROJECTS = {
    "script": ({"train.py": SCRIPT.format(first="", given="", rate="0.5")}, "train.py"),
    "module": (
        {
            "train.py": SCRIPT.format(first="from settings import RATE\n", given="", rate="RATE"),
            "settings.py": "RATE = 0.5\n",
        },
        "settings.py",
    ),
    "yaml": (
        {
            "train.py": SCRIPT.format(
                first='import yaml\nconfig = yaml.safe_load(open("config.yaml"))\n',
                given="",
                rate='config["train"]["lr"]',
            ),
            "config.yaml": "# ours\ntrain:\n  lr: 0.5  # large\n  name: run\n",
        },
        "config.yaml",
    ),
    "json": (
        {
            "train.py": SCRIPT.format(
                first='import json\nconfig = json.load(open("config.json"))\n',
                given="",
                rate='config["lr"]',
            ),
            "config.json": '{\n    "lr": 0.5,\n    "name": "run"\n}\n',
        },
        "config.json",
    ),
    "hydra": (
        {"train.py": HYDRA, "conf/config.yaml": "name: run\noptimizer:\n  lr: 0.5\n"},
        "conf/config.yaml",
    ),
    "hydra group": (
        {
            "train.py": HYDRA,
            "conf/config.yaml": "defaults:\n  - optimizer: sgd\n  - _self_\nname: run\n",
            "conf/optimizer/sgd.yaml": "lr: 0.5\n",
            "conf/optimizer/slow.yaml": "lr: 0.25\n",
        },
        "conf/optimizer/sgd.yaml",
    ),
    "notebook": ({"study.ipynb": NOTEBOOK}, "study.ipynb"),
}


def project(folder: Path, files: dict[str, str], *arguments: str) -> Program:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return read_program((next(iter(files)), *arguments), folder)


def applied(program: Program, value: float = 0.125, **given: bool) -> list[Path]:
    patch = Patch((set_to(Kind.LEARNING_RATE, value, program),))
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="apply", request={}) as run,
    ):
        return write(program, patch, run, **given)


@pytest.mark.parametrize("kind", PROJECTS)
def test_the_file_that_holds_the_value_is_edited_there_and_nowhere_else(
    kind: str, tmp_path: Path
) -> None:
    files, holder = PROJECTS[kind]
    program = project(tmp_path, files)
    assert applied(program) == [tmp_path / f"{holder}{BACKUP}"]
    assert (tmp_path / f"{holder}{BACKUP}").read_text(encoding="utf-8") == files[holder]
    for name, text in files.items():
        new = text.replace("0.5", "0.125") if name == holder else text
        assert (tmp_path / name).read_text(encoding="utf-8") == new


def test_the_command_line_of_hydra_chooses_the_group_or_gives_the_value(
    tmp_path: Path,
) -> None:
    files, _ = PROJECTS["hydra group"]
    slow = project(tmp_path, files, "optimizer=slow")
    assert applied(slow) == [tmp_path / f"conf/optimizer/slow.yaml{BACKUP}"]
    given = project(tmp_path, files, "optimizer.lr=0.3")
    assert applied(given) == [tmp_path / f"train.py{BACKUP}"]
    assert "lr=0.125)" in (tmp_path / "train.py").read_text(encoding="utf-8")


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=u", "-c", "user.email=u@example.org")
    done = subprocess.run(
        ["git", *identity, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    files, _ = PROJECTS["yaml"]
    project(tmp_path, files)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_what_was_not_committed_is_not_overwritten_unless_asked(
    committed: Path,
) -> None:
    config = committed / "config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "more: 1\n", encoding="utf-8")
    program = read_program(("train.py",), committed)
    with pytest.raises(InputError, match=r"not committed.*Received: config\.yaml") as refused:
        applied(program)
    assert "--allow-dirty" in refused.value.next_step
    with pytest.raises(InputError, match="not committed"):
        commit_on_branch(program, Patch((set_to(Kind.LEARNING_RATE, 0.1, program),)), "x", "m")
    with pytest.raises(InputError, match="not committed"):
        reenact.repair(str(committed / "train.py"), apply=True)
    applied(program, allow_dirty=True)
    assert "lr: 0.125" in config.read_text(encoding="utf-8")


def test_another_dirty_file_and_one_that_git_does_not_know_are_no_obstacle(
    committed: Path,
) -> None:
    script = committed / "train.py"
    script.write_text(script.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    applied(read_program(("train.py",), committed))
    new = committed / "new"
    new.mkdir()
    applied(project(new, PROJECTS["script"][0]))


def test_a_file_that_was_changed_since_it_was_read_is_never_overwritten(
    tmp_path: Path,
) -> None:
    program = project(tmp_path, PROJECTS["yaml"][0])
    (tmp_path / "config.yaml").write_text("train: {lr: 0.7}\n", encoding="utf-8")
    with pytest.raises(InputError, match="changed since"):
        applied(program, allow_dirty=True)
    assert (tmp_path / "config.yaml").read_text(encoding="utf-8") == "train: {lr: 0.7}\n"


@pytest.fixture
def recorded(tmp_path: Path) -> Program:
    """A finished repair in the journal, whose change held on fresh seeds."""
    program = project(tmp_path, PROJECTS["script"][0])
    patch = Patch((set_to(Kind.LEARNING_RATE, 0.125, program),))
    measure = Measure("accuracy", larger_is_better=True)
    before, after = (0.1,) * 6, (0.9,) * 6
    verdict = Verdict(
        patch,
        (1, 2, 3, 4, 5, 6),
        before,
        after,
        compare(before, after),
        0.01,
        Decision.REPAIRED,
    )
    result = Repair(
        strategy="guided",
        decision=Decision.REPAIRED,
        patch=patch,
        diff=patch.diff(program),
        judging=Judging(measure, measure, Part.WHOLE, Part.WHOLE, ""),
        verdicts=(verdict,),
        looks=(),
        cuts=(),
        cost=TrainingUsage(1.0),
    )
    with (
        Journal.open(tmp_path / ".reenact") as journal,
        journal.run(pipeline="repair", request=Trial(program).identity, what="train.py") as run,
    ):
        run.note("result", result)
        run.finish({"decision": "repaired"})
    return program


def test_a_recorded_repair_is_written_without_training_again(recorded: Program) -> None:
    runs = recorded.folder / ".reenact"
    assert reenact.load_run(runs_dir=runs).stale == ""
    assert reenact.apply_repair(runs_dir=runs).startswith("Written; what stood there before:")
    assert "lr=0.125" in (recorded.folder / "train.py").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="Only a finished repair or diagnosis can be applied"):
        reenact.apply_repair(runs_dir=runs)


def test_a_repair_of_a_program_that_has_changed_since_is_not_written(
    recorded: Program,
) -> None:
    script, runs = recorded.folder / "train.py", recorded.folder / ".reenact"
    script.write_text(script.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    assert "train.py has changed since this run" in reenact.load_run(runs_dir=runs).stale
    with pytest.raises(InputError, match="has changed since run"):
        reenact.apply_repair(runs_dir=runs)
    script.unlink()
    assert "cannot be read any more" in reenact.load_run(runs_dir=runs).stale


def test_a_repair_that_somebody_else_recorded_is_not_written(
    recorded: Program,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("other")))
    with pytest.raises(InputError, match="is not"):
        reenact.apply_repair(runs_dir=recorded.folder / ".reenact")
    assert not list(recorded.folder.glob(f"*{BACKUP}"))


SMALL = (
    'import keras\nmodel.compile(optimizer=keras.optimizers.SGD(learning_rate=0.5), loss="mse")\n'
)


def test_apply_keeps_what_stood_there(tmp_path: Path) -> None:
    program = project(tmp_path, {"train.py": SMALL})
    patch = Patch((set_to(Kind.LEARNING_RATE, 0.1, program),))
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="apply", request={}) as run,
    ):
        (backup,) = write(program, patch, run)
        again = read_program(("train.py",), program.folder)
        with pytest.raises(InputError, match="backup"):
            write(again, Patch((set_to(Kind.LEARNING_RATE, 0.2, again),)), run)
    assert backup.read_text() == SMALL
    assert backup.name == f"train.py{BACKUP}"
    assert "learning_rate=0.1" in (program.folder / "train.py").read_text()


def test_a_branch_leaves_files_index_and_head_alone(tmp_path: Path) -> None:
    program = project(tmp_path, {"train.py": SMALL})
    git(program.folder, "init", "-q", "-b", "main")
    git(program.folder, "add", ".")
    git(program.folder, "commit", "-qm", "first")
    patch = Patch((set_to(Kind.LEARNING_RATE, 0.1, program),))
    commit = commit_on_branch(program, patch, "repair/rate", "Repair the training")
    assert git(program.folder, "status", "--porcelain") == ""
    assert git(program.folder, "branch", "--show-current") == "main"
    assert git(program.folder, "rev-parse", "repair/rate") == commit
    assert "learning_rate=0.1" in git(program.folder, "show", "repair/rate:train.py")
    assert (program.folder / "train.py").read_text() == SMALL


def test_a_branch_outside_git_is_refused(tmp_path: Path) -> None:
    program = project(tmp_path, {"train.py": SMALL})
    with pytest.raises(InputError, match="git repository"):
        commit_on_branch(program, Patch((set_to(Kind.LEARNING_RATE, 0.1, program),)), "x", "m")


def poisoned(folder: Path, tripwire: Path) -> None:
    """Filters, hooks and a file system monitor in the repository's own settings."""
    trip = tripwire.with_name("trip.sh")
    trip.write_text(f"#!/bin/sh\necho tripped >> {tripwire}\ncat\n")
    trip.chmod(0o755)
    with (folder / ".git" / "config").open("a") as config:
        config.write(
            f'[core]\n\tfsmonitor = {trip}\n[filter "x"]\n\tclean = {trip}\n\tsmudge = {trip}\n'
        )
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text("* filter=x\n")
    hooks = folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "post-checkout",
        "pre-commit",
        "post-index-change",
        "reference-transaction",
    ):
        (hooks / name).write_text(f"#!/bin/sh\necho tripped >> {tripwire}\n")
        (hooks / name).chmod(0o755)


@pytest.mark.parametrize("place", ["files", "branch"])
def test_nothing_that_the_repository_configures_is_run(
    committed: Path, place: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tripwire = tmp_path_factory.mktemp("elsewhere") / "tripwire"
    poisoned(committed, tripwire)
    # Another time than in the index: git looks at the content, through the filter.
    os.utime(committed / "config.yaml", (1, 1))
    program = read_program(("train.py",), committed)
    if place == "files":
        applied(program)
        assert "lr: 0.125" in (committed / "config.yaml").read_text(encoding="utf-8")
    else:
        commit_on_branch(program, Patch((set_to(Kind.LEARNING_RATE, 0.1, program),)), "fix", "m")
        assert "lr: 0.5" in (committed / "config.yaml").read_text(encoding="utf-8")
    assert not tripwire.exists()


def test_a_branch_keeps_the_line_ends_that_are_committed(committed: Path) -> None:
    git(committed, "config", "core.autocrlf", "true")
    (committed / "config.yaml").unlink()
    git(committed, "checkout", "--", "config.yaml")
    assert b"\r\n" in (committed / "config.yaml").read_bytes()
    program = read_program(("train.py",), committed)
    commit = commit_on_branch(
        program, Patch((set_to(Kind.LEARNING_RATE, 0.1, program),)), "fix", "m"
    )
    assert git(committed, "diff", "--stat", "HEAD", commit).endswith(
        "1 insertion(+), 1 deletion(-)"
    )


def test_a_file_that_a_filter_changes_is_not_committed_without_it(
    committed: Path,
) -> None:
    git(committed, "config", "filter.x.clean", "sed s/large/small/")
    (committed / ".gitattributes").write_text("config.yaml filter=x\n")
    git(committed, "add", "--renormalize", ".")
    git(committed, "commit", "-qm", "filtered")
    program = read_program(("train.py",), committed)
    patch = Patch((set_to(Kind.LEARNING_RATE, 0.1, program),))
    with pytest.raises(InputError, match=r"filter of git|not committed"):
        commit_on_branch(program, patch, "fix", "m")
    assert git(committed, "branch", "--list", "fix") == ""


def test_a_work_tree_that_was_added_to_a_repository_is_looked_at_there(
    committed: Path,
) -> None:
    tree = committed.parent / "added"
    git(committed, "worktree", "add", "-q", str(tree), "-b", "other")
    program = read_program(("train.py",), tree)
    patch = Patch((set_to(Kind.LEARNING_RATE, 0.1, program),))
    commit = commit_on_branch(program, patch, "fix", "m")
    assert git(committed, "rev-parse", "fix") == commit
    (tree / "config.yaml").write_text("train:\n  lr: 0.75\n", encoding="utf-8")
    with pytest.raises(InputError, match="not committed"):
        applied(read_program(("train.py",), tree))
