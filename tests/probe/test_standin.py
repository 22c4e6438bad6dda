"""Stand-ins for data that must be downloaded and is not there."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

from reenact.probe import injected
from reenact.probe.crash import Crash, CrashFacts, CrashFrame
from reenact.probe.outcome import classify
from reenact.probe.read import read_stand_ins
from reenact.program.program import read_program
from reenact.trials.job import watch_options
from reenact.trials.trial import Trial
from reenact.types import ExitCode

standin = injected.part("standin")


REAL = 6 * 10**4
"""Rows of MNIST; not as a number in this text, which would have every stand-in made as large."""


class Loader:
    """A library whose loader raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.asked = 0

    def load_data(self) -> str:
        self.asked += 1
        raise self.error


def offered(folder: Path, error: Exception, names: tuple[str, ...] = ()) -> Loader:
    library = Loader(error)
    stand_ins = standin.StandIns(injected.part("folder").Folder(str(folder)), names)
    stand_ins.offer(library, "load_data", lambda *_: "lib.set", lambda: "made up")
    return library


def test_a_loader_without_network_gets_a_stand_in_that_is_noted(tmp_path: Path) -> None:
    library = offered(tmp_path, URLError("no route to host"))
    assert library.load_data() == "made up"
    assert library.asked == 1
    assert read_stand_ins(tmp_path) == ("lib.set",)


@pytest.mark.parametrize("error", [ValueError("label_mode"), RuntimeError("shape mismatch")])
def test_other_errors_of_a_loader_are_the_program_s_own(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)):
        offered(tmp_path, error).load_data()
    assert read_stand_ins(tmp_path) == ()


def test_a_trial_gets_what_the_watched_run_got_and_nothing_else(tmp_path: Path) -> None:
    same = offered(tmp_path / "a", URLError("gone"), ("lib.set",))
    assert (same.load_data(), same.asked) == ("made up", 0)
    with pytest.raises(URLError):
        offered(tmp_path / "b", URLError("gone"), ("lib.other",)).load_data()


def test_trials_on_stand_in_data_are_other_trials(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    program = read_program(["train.py"], tmp_path)
    real, made_up = Trial(program), Trial(program, stand_ins=("keras.datasets.mnist",))
    assert real.key != made_up.key
    assert watch_options(real, program, tmp_path).stand_ins is None
    assert watch_options(made_up, program, tmp_path).stand_ins == ("keras.datasets.mnist",)


def test_pictures_have_the_shapes_of_the_real_ones_and_can_be_learned() -> None:
    (x, y), (x_test, y_test) = standin._grey("mnist")
    assert (x.shape, x.dtype, y.dtype, x_test.shape) == (
        (2000, 28, 28),
        np.uint8,
        np.uint8,
        (500, 28, 28),
    )
    assert (x.min(), x.max(), sorted(set(y.tolist()))) == (0, 255, list(range(10)))
    centres = np.stack([x[y == label].mean(axis=0).ravel() for label in range(10)])
    distance = ((x_test.reshape(-1, 1, 784) - centres) ** 2).sum(axis=2)
    assert (distance.argmin(axis=1) == y_test).mean() > 0.8
    again = standin._grey("mnist")[0][0]
    assert np.array_equal(x, again)


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        (f"x.reshape({REAL}, 784)", (REAL, 10000)),
        ("x.reshape(len(x), 784)", (2000, 500)),
    ],
)
def test_as_many_rows_as_the_real_data_where_the_program_counts_on_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, rows: tuple[int, int]
) -> None:
    # As the interpreter does it for a main script.
    monkeypatch.syspath_prepend(tmp_path)
    script = tmp_path / "train.py"
    script.write_text(f"got = rows((6 * 10**4, 10000))\n# {line}\n")
    assert runpy.run_path(str(script), {"rows": standin._rows})["got"] == rows


def test_texts_follow_the_arguments_of_their_loader() -> None:
    (x, y), (x_test, _) = standin._texts("imdb", num_words=1000, maxlen=100)
    assert {
        max(map(max, x)) < 1000,
        max(map(len, x)) < 100,
        {text[0] for text in x} == {1},
    } == {True}
    assert (set(y.tolist()), len(x) / len(x_test)) == (
        {0, 1},
        pytest.approx(4, rel=0.05),
    )
    (_, topics), _ = standin._texts("reuters", num_words=500, test_split=0.1)
    assert (len(topics), set(topics.tolist())) == (2250, set(range(46)))


def test_tables_have_the_ranges_of_the_real_ones() -> None:
    (x, y), (x_test, _) = standin._houses("boston_housing")
    assert (x.shape, x_test.shape, x.dtype) == ((404, 13), (102, 13), np.float64)
    assert 5 <= y.min() < y.max() <= 50
    x, y = standin._california(return_X_y=True)
    centred = np.column_stack([(x - x.mean(0)) / x.std(0), np.ones(len(x))])
    rule = np.linalg.lstsq(centred[:2000], y[:2000], rcond=None)[0]
    left = y[2000:] - centred[2000:] @ rule
    assert left.var() < 0.4 * y[2000:].var()


class VisionDataset:
    """As torchvision's."""

    def __init__(self, root: str, transform: Any = None, target_transform: Any = None) -> None:
        self.root, self.transform, self.target_transform = (
            root,
            transform,
            target_transform,
        )


class MNIST(VisionDataset):
    """As torchvision's."""

    def __init__(
        self,
        root: str,
        train: bool = True,
        transform: Any = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform)
        raise RuntimeError("Dataset not found. You can use download=True to download it")


class EMNIST(MNIST):
    """Another number of classes."""


def test_classes_of_torchvision_are_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    for kind in (VisionDataset, MNIST, EMNIST):
        monkeypatch.setattr(kind, "__module__", "torchvision.datasets.mnist")
    monkeypatch.setattr(MNIST, "__init__", MNIST.__init__)
    stand_ins = standin.StandIns(injected.part("folder").Folder(str(tmp_path)), ())
    standin._torchvision(stand_ins, SimpleNamespace(VisionDataset=VisionDataset, MNIST=MNIST))
    data: Any = MNIST("data", train=False, transform=str)
    assert (data.data.shape, data.data.dtype) == ((500, 28, 28), torch.uint8)
    assert (data.targets.dtype, data.transform, data.root) == (torch.int64, str, "data")
    assert read_stand_ins(tmp_path) == ("torchvision.datasets.MNIST",)
    with pytest.raises(RuntimeError, match="download=True"):
        EMNIST("data")


@pytest.mark.parametrize(
    ("file", "source", "offers"),
    [
        ("/env/keras/src/datasets/mnist.py", "mnist.load_data()", True),
        ("/env/sklearn/datasets/_openml.py", "fetch_openml('mnist_784')", True),
        ("/env/sklearn/datasets/_openml.py", "fetch_openml('adult')", False),
        ("/env/sklearn/datasets/_rcv1.py", "fetch_rcv1()", False),
    ],
)
def test_missing_data_names_the_option_where_it_helps(file: str, source: str, offers: bool) -> None:
    crash = Crash("URLError", "no route", None, source, (f"{file}:30 in load",), ("URLError",))
    outcome = classify(1, crash, trained=False)
    assert outcome.stand_in_exists is offers
    assert ("--stand-in-data" in outcome.sentence) is offers
    frame = CrashFrame("/x/reenact_probe/standin.py", 9, "load", "reenact_probe.standin", "probe")
    asked = replace(crash, facts=CrashFacts(stack=(frame,)))
    assert not classify(1, asked, trained=False).stand_in_exists


PROGRAM = """
import keras
(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()
x, x_test = x.reshape(len(x), 784), x_test.reshape(len(x_test), 784)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=False), metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=50, validation_data=(x_test, y_test), verbose=0)
"""


@pytest.mark.usefixtures("warm_python")
@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_every_line_of_a_diagnosis_names_its_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reenact import TrainingOptions, diagnose
    from reenact.report.render import render
    from reenact.report.views.diagnosis import diagnosis_document

    (tmp_path / "train.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    for name, value in (
        ("KERAS_HOME", "cache"),
        ("KERAS_BACKEND", "torch"),
        ("https_proxy", "http://127.0.0.1:9"),
    ):
        monkeypatch.setenv(name, value)
    found = diagnose("train.py", training=TrainingOptions(stand_in_data=True))
    name = "keras.datasets.mnist"
    assert found.stand_in_data == (name,)
    assert found.sentence.startswith(f"On stand-in data for {name}: ")
    assert found.exit_code is not ExitCode.INCONCLUSIVE
    codes = {
        witness.code
        for one in (*found.findings, *found.low_confidence)
        for witness in one.witnesses
    }
    assert not codes & {"RE005", "UM001", "AT008"}
    assert any(note.startswith("Not judged on stand-in data") for note in found.notes)
    document = diagnosis_document(found, "train.py")
    for output_format in ("full", "concise", "markdown", "html", "github"):
        assert name in render(document, output_format).replace("\\", ""), output_format
    assert json.loads(render(document, "json"))["data"]["stand_in_data"] == [name]
    assert document.diagnostics
    messages = [
        one["message"]["text"]
        for one in json.loads(render(document, "sarif"))["runs"][0]["results"]
    ]
    assert messages
    assert all(f"On stand-in data for {name}" in message for message in messages)
