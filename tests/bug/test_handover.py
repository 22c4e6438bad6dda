"""After a silent bug the project's training programs are read by the rules of `diagnose`;
nothing runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reenact.bug.context.index import build_index
from reenact.bug.handover import read_findings
from reenact.bug.project_files import project_files
from reenact.bug.reproduction import Verdict

TRAIN = '''"""Train the net."""

from pathlib import Path

import keras

from shop.nets import make

Path("ran").touch()


def main():
    images, labels = keras.datasets.mnist.load_data()[0]
    model = make()
    model.compile(optimizer="adam", loss="categorical_crossentropy")
    model.fit(images.reshape(-1, 784) / 255.0, keras.utils.to_categorical(labels), epochs=3)


if __name__ == "__main__":
    main()
'''
NETS = '''"""Nets."""

import keras
from keras import layers


def make():
    return keras.Sequential(
        [keras.Input((784,)), layers.Dense(64), layers.Dense(10, activation="sigmoid")]
    )
'''
LIBRARY = """def fit(model, batches):
    for batch in batches:
        loss = model(batch)
        loss.backward()
"""
SUMMED = """from acme import focal

values = [0.5, 0.5, 0.5, 0.5]
observed = focal(values, [1, 1, 1, 1])
reference = focal(values[:1], [1])
"""
REPORT = (
    "Focal loss grows with the batch\n\nThe loss of four equal samples is four times that of one.\n"
)
SYMPTOM = {
    "kind": "silent",
    "sign": "wrong-value",
    "words": "The focal loss is summed, not averaged.",
    "check": {"relation": "differs"},
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_program_and_the_modules_it_imports_are_read_and_not_run(
    tmp_path: Path,
) -> None:
    files = {
        "train.py": TRAIN,
        "shop/__init__.py": "",
        "shop/nets.py": NETS,
        "shop/fit.py": LIBRARY,
    }
    write(tmp_path, files)
    found = read_findings(build_index(project_files(tmp_path)))
    assert found
    assert all("shop/nets.py:" in one or "train.py" in one for one in found), found
    assert any("shop/nets.py:9" in one for one in found), found
    assert not (tmp_path / "ran").exists()
    assert not Path("ran").exists()


def test_library_is_no_training_program(tmp_path: Path) -> None:
    write(tmp_path, {"shop/__init__.py": "", "shop/fit.py": LIBRARY})
    assert read_findings(build_index(project_files(tmp_path))) == ()


def test_link_that_leads_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "outside/nets.py": NETS,
            "project/train.py": TRAIN,
            "project/shop/__init__.py": "",
        },
    )
    (tmp_path / "project" / "shop" / "nets.py").symlink_to(tmp_path / "outside" / "nets.py")
    assert not any(
        "nets.py" in one for one in read_findings(build_index(project_files(tmp_path / "project")))
    )


def test_findings_go_into_the_report_of_a_silent_bug(
    toy: Any, in_turn: Any, tmp_path: Path
) -> None:
    write(
        tmp_path / "buggy",
        {"train.py": TRAIN, "shop/__init__.py": "", "shop/nets.py": NETS},
    )
    found = toy.reproduce(
        in_turn([SUMMED]),
        report=REPORT,
        symptom=SYMPTOM,
        diagnose=True,
        seeds=1,
        out=tmp_path / "out",
    )
    assert found.verdict is Verdict.SHOWN, found.reason
    assert found.findings
    assert "shop/nets.py:9" in (tmp_path / "out" / "REPORT.md").read_text()
    again = toy.reproduce(in_turn([SUMMED]), report=REPORT, symptom=SYMPTOM, seeds=1)
    assert again.findings == ()
