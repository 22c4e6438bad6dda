"""`reenact diagnose` as a user meets it: one broken program, every format; reading alone; wrong
usage.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from warm import warm_reenact

pytestmark = pytest.mark.usefixtures("warm_python")

BROKEN = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(240, 4)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(12):
    for rows in torch.randperm(240).split(40):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(x).argmax(1) == y).float().mean().item()
    print("epoch", epoch, "loss", loss.item(), "accuracy", accuracy)
"""
FORGOTTEN = "RE010"
"""Gradients are never set to zero."""


def reenact(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_reenact(), *words],
        cwd=folder,
        env=os.environ | {"COLUMNS": "110", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diagnosed")
    (folder / "train.py").write_text(BROKEN)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> subprocess.CompletedProcess[str]:
    return reenact(folder, "diagnose", "--output-format", "html", "train.py")


def test_the_page_shows_the_finding_its_line_curves_and_layers(
    page: subprocess.CompletedProcess[str],
) -> None:
    assert page.returncode == 1, page.stderr
    text = page.stdout
    assert FORGOTTEN in text
    assert "train.py:13" in text
    assert "+ optimizer.zero_grad()" in text
    for title in ("Loss", "Metrics", "Gradient of the weights", "Size of an update"):
        assert f"<figcaption>{title}" in text


def test_every_picture_is_well_formed_and_the_page_runs_nothing(
    page: subprocess.CompletedProcess[str],
) -> None:
    drawn = [
        "<svg" + part.partition("</svg>")[0] + "</svg>" for part in page.stdout.split("<svg")[1:]
    ]
    assert len(drawn) >= 4
    assert {ElementTree.fromstring(one).tag for one in drawn} == {"svg"}
    assert "<script" not in page.stdout
    assert "http" not in page.stdout


def test_what_the_program_prints_does_not_mix_with_the_result(
    page: subprocess.CompletedProcess[str],
) -> None:
    assert page.stdout.startswith("<!doctype html>")
    assert "epoch 11" in page.stderr


def test_reading_alone_runs_nothing(folder: Path) -> None:
    ended = reenact(folder, "diagnose", "--depth", "static", "--output-format", "json", "train.py")
    document = json.loads(ended.stdout)
    assert "epoch" not in ended.stderr
    assert document["data"]["depth"] == "static"
    assert FORGOTTEN in {notice["code"] for notice in document["notices"]}


def test_one_tool_alone_can_be_asked(folder: Path) -> None:
    ended = reenact(
        folder,
        "diagnose",
        "--depth",
        "static",
        "--select",
        "neuralint",
        "--output-format",
        "json",
        "train.py",
    )
    codes = {notice["code"][:2] for notice in json.loads(ended.stdout)["notices"]}
    assert codes <= {"NL"}


def test_a_comment_waves_a_finding_through(folder: Path) -> None:
    (folder / "waved.py").write_text(
        BROKEN.replace("loss.backward()", "loss.backward()  # reenact: ignore[RE010] why")
    )
    ended = reenact(folder, "diagnose", "--depth", "static", "--output-format", "json", "waved.py")
    assert FORGOTTEN not in {notice["code"] for notice in json.loads(ended.stdout)["notices"]}


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("--select", "XX", "train.py"), "No fault or detector goes by"),
        (("--depth", "normal", "--budget", "much", "train.py"), "A budget is"),
        (("nowhere.py",), "nowhere.py"),
    ],
)
def test_wrong_usage_is_a_sentence(folder: Path, words: tuple[str, ...], output: str) -> None:
    ended = reenact(folder, "diagnose", *words)
    assert ended.returncode == 2
    assert output in ended.stderr
    assert "Traceback" not in ended.stderr
