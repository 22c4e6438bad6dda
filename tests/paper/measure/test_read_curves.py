"""Log files and printed lines -> curves."""

from __future__ import annotations

import json

import pytest

from reenact.codegen.project import Project
from reenact.codegen.runner import PRINTED
from reenact.paper.measure.curves import MOST_LOGS, curves_of, log_names

FIRST, SECOND = (
    '{"epoch": 1, "loss": 0.9, "val_acc": 0.1}',
    '{"epoch": 2, "loss": 0.5, "val_acc": 0.6}',
)
LOSS = [
    ("", "loss", "epoch", (1, 2), (0.9, 0.5)),
    ("", "val_accuracy", "epoch", (1, 2), (0.1, 0.6)),
]


def short(logs: dict[str, str]) -> list[tuple[object, ...]]:
    return [(one.label, one.metric, one.axis, one.at, one.values) for one in curves_of(logs)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.csv", "epoch,loss,val_acc,lr\n1,0.9,0.1,0.01\n2,0.5,0.6,0.01\n"),
        ("log.tsv", "epoch\tloss\tval_acc\n1\t0.9\t0.1\n2\t0.5\t0.6\n"),
        ("out/log.jsonl", f"{FIRST}\n{SECOND}\n"),
        (
            "history.json",
            '{"epoch": [1, 2], "loss": [0.9, 0.5], "val_acc": [0.1, 0.6]}',
        ),
        ("rows.json", f"[{FIRST}, {SECOND}]"),
        ("train.log", "epoch 1 loss 0.9 val acc 0.1\nepoch 2 loss 0.5 val acc 0.6\n"),
        (PRINTED, "epoch 1 loss 0.9 val acc 0.1\nepoch 2 loss 0.5 val acc 0.6\n"),
    ],
)
def test_every_form_gives_the_same_curves(name: str, text: str) -> None:
    assert short({name: text}) == LOSS


def test_words_in_a_row_say_which_training_it_is_of() -> None:
    rows = "method,epoch,loss\nours,1,3\nbase,1,5\nours,2,2\nbase,2,4\n"
    assert [one[:2] + one[4:] for one in short({"log.csv": rows})] == [
        ("ours", "loss", (3.0, 2.0)),
        ("base", "loss", (5.0, 4.0)),
    ]
    nested = json.dumps({"ours": {"loss": [3, 2]}, "base": {"loss": [5, 4]}})
    assert [one[:2] for one in short({"history.json": nested})] == [
        ("ours", "loss"),
        ("base", "loss"),
    ]


def test_a_list_is_counted_by_what_stands_beside_it() -> None:
    for logs, axis, at in (
        ({"loss": [3, 2]}, "report", (1, 2)),
        ({"step": [10, 20], "loss": [3, 2]}, "step", (10, 20)),
        ({"epoch": [1, 2], "ours": {"loss": [3, 2]}}, "epoch", (1, 2)),
        ({"epoch": [1, 2, 3], "loss": [3, 2]}, "report", (1, 2)),
    ):
        (curve,) = short({"history.json": json.dumps(logs)})
        assert curve[2:4] == (axis, at)


def test_a_json_line_with_a_nan_is_read_all_the_same() -> None:
    lines = '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": NaN}\n'
    assert short({"log.jsonl": lines}) == [("", "loss", "step", (1, 2), (0.5, None))]


def test_a_file_comes_before_what_is_printed() -> None:
    logs = {
        PRINTED: "epoch 1 loss 7\nepoch 2 loss 7\nepoch 3 loss 7",
        "log.csv": "epoch,loss\n1,3\n2,2\n",
    }
    assert [one[4] for one in short(logs)] == [(3.0, 2.0)]


@pytest.mark.parametrize(
    "logs",
    [
        {"log.json": "{"},
        {"log.json": "3"},
        {"log.csv": ""},
        {"log.csv": '"\n\0'},
        {"log.jsonl": "[1]\n{"},
        {},
    ],
)
def test_what_cannot_be_read_is_no_curve(logs: dict[str, str]) -> None:
    assert curves_of(logs) == ()


def test_files_that_the_code_names() -> None:
    code = """
from pathlib import Path
OUT = Path("runs")
def write(args, seed, name):
    open("history.csv"); open("./log.jsonl"); open("data.csv"); open("metrics.json"); open("../x.csv")
    open("/etc/x.json"); open(f"log-{seed}.csv"); open(f"log-{name}.csv"); (Path("out") / f"{args.seed}.json")
    open("notes.txt"); open("a b.csv")
"""
    project = Project({"train.py": code, "data.csv": "1"})
    assert set(log_names(project, 3)) == {
        "history.csv",
        "log.jsonl",
        "log-3.csv",
        "out/3.json",
    }
    many = "\n".join(f"open('{number}.csv')" for number in range(99))
    assert len(log_names(Project({"train.py": many}), 0)) == MOST_LOGS
