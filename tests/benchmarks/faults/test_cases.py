"""Every case of the fault benchmark: complete, compiling, different where it says, runnable or named."""

from __future__ import annotations

import ast
import difflib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from benchmarks.data import store as data_store
from benchmarks.faults import effect as fault_effect
from benchmarks.faults.case import STUDY, TOOLS, FaultCase, Scale, Side
from benchmarks.faults.cases import catalogue, fault_case, helper_text, source_text
from benchmarks.faults.effect import Training, effect_of
from benchmarks.faults.programs import (
    SYNTHETIC,
    Availability,
    availability,
    materialise,
)
from benchmarks.faults.scores import parse_truth
from reenact.errors import InputError, MissingPart
from reenact.faults.fault_type import FaultType
from reenact.journal import Journal
from reenact.program.hyperparameter import Kind
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.types import Stop

ROOT = Path(__file__).parents[3]
WRITTEN = [case for case in catalogue() if case.written]
IDS = (
    *(f"M{number}" for number in range(1, 4)),
    *(f"C{number}" for number in range(1, 4)),
    *(f"R{number}" for number in range(1, 8)),
    *(f"D{number}" for number in range(1, 17)),
    *(f"U{number}" for number in range(1, 9)),
    "A1",
    "A2",
    "UD1",
    "UD2",
)
SCALES = (Scale.LITE, Scale.FULL)
LAYERS = {"Dense", "Conv2D", "MaxPooling2D", "Flatten", "Dropout", "Activation"}
TELLTALE = re.compile(
    r"\b(buggy?|faulty?|fix(ed)?|wrong|mistake|should|todo|broken|mutant|correct)\b",
    re.I,
)


@pytest.fixture(autouse=True)
def _no_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user of this machine has fetched must not be found."""
    monkeypatch.setenv("REENACT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def each(cases: Sequence[FaultCase]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])


def layer_lines(source: str) -> list[int]:
    """The line of each layer, in the order in which the model has them."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [(call, getattr(call.func, "attr", getattr(call.func, "id", ""))) for call in calls]
    return sorted(call.lineno for call, name in names if name in LAYERS)


def changed_lines(case: FaultCase, scale: Scale) -> tuple[list[int], str]:
    """Lines of buggy.py that are replaced, and the text that replaces them."""
    buggy, fixed = (
        source_text(case, side, scale).splitlines() for side in (Side.BUGGY, Side.FIXED)
    )
    matcher = difflib.SequenceMatcher(None, buggy, fixed, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    assert all(change[0] == "replace" for change in changes)
    lines = [line + 1 for _, start, end, _, _ in changes for line in range(start, end)]
    return lines, "\n".join(line for *_, start, end in changes for line in fixed[start:end])


def test_all_faults_are_accounted_for() -> None:
    assert sorted(case.id for case in catalogue()) == sorted(IDS)
    assert sum(case.study for case in catalogue()) == STUDY == 22
    assert sum(case.repair_study for case in catalogue()) == 30
    assert {case.id for case in catalogue() if case.study} <= {case.id for case in WRITTEN}


def test_what_cannot_be_run_is_named_with_the_reason(tmp_path: Path) -> None:
    nothing = {"REENACT_DATA": str(tmp_path)}
    for case in catalogue():
        ready = availability(case, nothing)
        assert ready.runnable == (not case.data)
        assert ready.runnable or ready.why_not.startswith("data missing: ")
    with pytest.raises(MissingPart, match="U1 cannot be run: data missing: UnityEyes"):
        materialise(fault_case("U1"), Side.BUGGY, Scale.LITE, tmp_path / "u1", nothing)


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(InputError, match="There is no fault M9"):
        fault_case("M9")


def test_a_case_without_program_says_so() -> None:
    with pytest.raises(InputError, match="no program for U8"):
        source_text(fault_case("U8"), Side.BUGGY, Scale.FULL)


@each(WRITTEN)
@pytest.mark.parametrize("scale", SCALES)
def test_programs_compile_and_give_nothing_away(case: FaultCase, scale: Scale) -> None:
    for side in Side:
        source = source_text(case, side, scale)
        compile(source, f"{case.id}/{side}.py", "exec")
        assert not TELLTALE.search(source)
        assert "#" not in source
        assert max(map(len, source.splitlines())) <= 110


@each(WRITTEN)
@pytest.mark.parametrize("scale", SCALES)
def test_the_two_programs_differ_exactly_at_the_planted_faults(
    case: FaultCase, scale: Scale
) -> None:
    assert changed_lines(case, scale)[0] == sorted(
        {fault.line for fault in case.faults if fault.line}
    )


@each(WRITTEN)
@pytest.mark.parametrize("scale", SCALES)
def test_every_planted_fault_stands_on_its_line(case: FaultCase, scale: Scale) -> None:
    buggy = source_text(case, Side.BUGGY, scale).splitlines()
    _, fixed_text = changed_lines(case, scale)
    for fault in case.faults:
        if fault.kind in (Kind.PREPROCESSING, Kind.LAYER):
            continue
        old, new = (
            (fault.old, fault.new) if scale is Scale.FULL else (fault.lite_old, fault.lite_new)
        )
        line = buggy[(fault.line or 0) - 1]
        assert str(new if old is None else old) in (fixed_text if old is None else line)
        assert old is not None or str(new) not in line
        assert new is None or str(new) in fixed_text


@each(WRITTEN)
def test_layer_indices_are_those_of_the_model(case: FaultCase) -> None:
    lines = layer_lines(source_text(case, Side.BUGGY, Scale.FULL))
    for fault in case.faults:
        if fault.layer is not None:
            assert lines[fault.layer] == fault.line


@each(WRITTEN)
@pytest.mark.parametrize("scale", SCALES)
def test_every_planted_fault_is_a_hyperparameter_of_the_program(
    case: FaultCase, scale: Scale
) -> None:
    """What was planted can be named, and turned back, by whoever reads the program."""
    found = hyperparameters_of(program_from_text(source_text(case, Side.BUGGY, scale)))
    there = {(param.kind, param.place.line): param.value for param in found}
    for fault in case.faults:
        value = there[fault.kind, fault.line or 0]
        if fault.kind not in (Kind.PREPROCESSING, Kind.LAYER):
            assert value == (fault.old if scale is Scale.FULL else fault.lite_old)


@each(WRITTEN)
def test_lite_changes_what_it_says_and_nothing_silently(case: FaultCase) -> None:
    both = "\n".join(source_text(case, side, Scale.FULL) for side in Side)
    assert not [old for old, _ in case.lite if old not in both]
    assert case.lite_says
    for side in Side:
        full, lite = (
            source_text(case, side, scale).count("\n") for scale in (Scale.FULL, Scale.LITE)
        )
        assert full == lite


def test_lite_as_first_written_had_fewer_epochs_in_five_programs_and_is_else_the_same() -> None:
    changed = {}
    for case in WRITTEN:
        for side in Side:
            lite, first = (
                source_text(case, side, scale).splitlines() for scale in (Scale.LITE, Scale.FIRST)
            )
            differing = [pair for pair in zip(lite, first, strict=True) if pair[0] != pair[1]]
            assert all(
                re.sub(r"epochs=\d+", "", old) == re.sub(r"epochs=\d+", "", new)
                for old, new in differing
            )
            if differing:
                changed[case.id, side] = re.findall(r"epochs=(\d+)", "".join(differing[0]))
    assert changed == {
        **{(name, side): ["16", "8"] for name in ("C1", "C3") for side in Side},
        ("C2", Side.FIXED): ["16", "8"],
        **{("D4", side): ["20", "6"] for side in Side},
        **{("D9", side): ["40", "10"] for side in Side},
    }


def test_ground_truths_in_keras_layers() -> None:
    truths = {
        name: ", ".join(map(str, fault_case(name).truth)) for name in ("M1", "M3", "D3", "D4", "D9")
    }
    assert truths == {
        "M1": "HLR",
        "M3": "ACH(7)",
        "D3": "ACH(1,2), LCH, OCH, HBS, HNE",
        "D4": "ACH(0,1), HLR, LCH",
        "D9": "CPP, ACH(0,2), HBS",
    }


@each([case for case in catalogue() if case.study and case.id not in ("D3", "D9")])
def test_our_truth_is_the_published_one(case: FaultCase) -> None:
    assert set(case.truth) == set(parse_truth(case.published.truth))


def test_published_alternatives() -> None:
    counts = {case.id: len(case.alternatives) for case in catalogue() if case.study}
    assert sum(counts.values()) == 336
    assert [name for name, count in counts.items() if not count] == [
        "R1",
        "R3",
        "D2",
        "D9",
    ]
    assert parse_truth("OCH") in fault_case("M1").alternatives
    assert parse_truth("WCI(0), HLR") in fault_case("M1").alternatives
    assert parse_truth("HBS") in fault_case("D3").alternatives
    assert fault_case("D3").alternatives[6] == parse_truth("ACH(1), HBS")
    assert fault_case("D3").alternatives_as_published[6] == parse_truth("ACH(0), HBS")
    assert FaultType.LAD in fault_case("D8").alternatives[24][0].faults


def test_published_figures_are_there_for_every_fault_of_the_study() -> None:
    for case in catalogue():
        assert (
            set(case.published.before)
            == set(case.published.after)
            == (set(TOOLS) if case.study else set())
        )
        assert (case.published.faulty_metric is not None) == case.repair_study
    assert fault_case("D4").published.after["UMLAUT"].f3 == 0.91
    assert fault_case("U2").published.repairs["HEBO"] is not None
    assert fault_case("M1").published.repairs["AutoTrainer"] is None


@pytest.fixture(scope="module")
def fabricated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Data of the right shapes, easy to classify: class k is bright in rows 2k and 2k + 1, or
    says k + 3.
    """
    folder = tmp_path_factory.mktemp("data")
    for name, side, depth, train in (
        ("mnist", 28, (), 60000),
        ("cifar10", 32, (3,), 50000),
    ):
        arrays = {}
        for split, count in (("train", train), ("test", 10000)):
            labels = np.arange(count, dtype=np.uint8) % 10
            images = np.zeros((count, side, side, *depth), np.uint8)
            for label in range(10):
                images[:2000][labels[:2000] == label, 2 * label : 2 * label + 2] = 200
            arrays |= {f"x_{split}": images, f"y_{split}": labels}
        np.savez_compressed(folder / f"{name}.npz", **arrays)
    labels = np.arange(600) % 5
    tokens = np.stack([labels + 3, np.arange(600) % 90 + 10], axis=1).astype(np.uint16)
    data_store.save(
        folder / "newswire.npz",
        {
            "tokens": tokens.reshape(-1),
            "offsets": np.arange(0, 1201, 2, dtype=np.uint32),
            "labels": labels.astype(np.uint8),
            "train_count": np.array(500),
        },
    )
    return {"REENACT_DATA": str(folder)}


def smaller(program: Path, *replacements: tuple[str, str]) -> Path:
    text = program.read_text()
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    program.write_text(text)
    return program


def test_a_program_is_an_ordinary_folder(fabricated: dict[str, str], tmp_path: Path) -> None:
    entry = materialise(fault_case("M2"), Side.BUGGY, Scale.FULL, tmp_path / "m2", fabricated)
    assert sorted(path.name for path in entry.parent.iterdir()) == [
        "dataset.py",
        "train.py",
    ]
    assert fabricated["REENACT_DATA"] in (entry.parent / "dataset.py").read_text()
    assert "environ" not in (entry.parent / "dataset.py").read_text()
    entry = materialise(fault_case("D7"), Side.FIXED, Scale.FULL, tmp_path / "d7")
    assert [path.name for path in entry.parent.iterdir()] == ["train.py"]


def test_the_helper_gives_what_keras_datasets_would(
    fabricated: dict[str, str], tmp_path: Path
) -> None:
    space: dict[str, object] = {"__name__": "dataset"}
    exec(compile(helper_text(), "dataset.py", "exec"), space)
    space["FOLDER"] = Path(fabricated["REENACT_DATA"])
    (x_train, y_train), (x_test, _) = space["load_mnist"](train=50, test=20)  # type: ignore[operator]
    assert (x_train.shape, y_train.shape, x_test.shape) == (
        (50, 28, 28),
        (50,),
        (20, 28, 28),
    )
    assert x_train[3, 6:8].min() == 200
    (small, _), _ = space["load_mnist"](train=50, test=20, side=14)  # type: ignore[operator]
    assert small.shape == (50, 14, 14)
    assert small[3, 3].min() == 200
    (photos, classes), _ = space["load_cifar10"](train=30, test=10, classes=3)  # type: ignore[operator]
    assert (photos.shape, classes.shape, set(classes.ravel())) == (
        (30, 32, 32, 3),
        (30, 1),
        {0, 1, 2},
    )
    (texts, topics), (texts_test, _) = space["load_newswire"](train=7)  # type: ignore[operator]
    assert (len(texts), len(topics), len(texts_test)) == (7, 7, 100)
    assert texts[2].tolist() == [5, 12]


Train: TypeAlias = Callable[[Path, Sequence[int]], list[Training]]


@pytest.fixture
def warm_train(warm_interpreter: str) -> Train:
    """Trains as the benchmark does, with an interpreter that has loaded Keras already."""

    def train(program: Path, seeds: Sequence[int]) -> list[Training]:
        command = [
            warm_interpreter,
            "-m",
            "benchmarks.faults.runner",
            str(program),
            *map(str, seeds),
        ]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return [
            Training(**json.loads(line))
            for line in ended.stdout.splitlines()
            if line.startswith("{")
        ]

    return train


def test_programs_really_train(
    fabricated: dict[str, str], tmp_path: Path, warm_train: Train
) -> None:
    """Two programs of two kinds of data, far smaller than lite."""
    tiny = {
        "M3": (
            ("train=1200, test=500", "train=100, test=50"),
            ("epochs = 12", "epochs = 1"),
        ),
        "R1": (
            ("train=4000, test=1000", "train=200, test=50"),
            ("EPOCHS = 5", "EPOCHS = 1"),
        ),
    }
    for name, replacements in tiny.items():
        entry = materialise(fault_case(name), Side.BUGGY, Scale.LITE, tmp_path / name, fabricated)
        (outcome,) = warm_train(smaller(entry, *replacements), [1])
        assert 0 <= outcome.metric <= 1


@pytest.mark.release
def test_a_fault_does_measurable_harm(tmp_path: Path, warm_train: Train) -> None:
    """Both programs of D7, shortened, over five seeds; its metric is an error, so less is
    better.
    """
    case, trained = fault_case("D7"), {}
    for side in Side:
        entry = materialise(case, side, Scale.LITE, tmp_path / side)
        trained[side] = tuple(warm_train(smaller(entry, ("epochs=200", "epochs=10")), range(5)))
    effect = effect_of(case, Scale.LITE, trained)
    assert effect.holds
    assert effect.data == "synthetic"
    assert effect.comparison.p_value == pytest.approx(1 / 32)
    assert max(one.metric for one in effect.fixed) < min(one.metric for one in effect.buggy)
    assert json.dumps(fault_effect.facts(effect))
    assert fault_effect.table([effect]).rows[0][-1] == "yes"


def test_a_training_is_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_interpreter: str
) -> None:
    monkeypatch.setattr(sys, "executable", warm_interpreter)
    entry = materialise(fault_case("D7"), Side.BUGGY, Scale.LITE, tmp_path / "d7")
    (outcome,) = fault_effect.train(smaller(entry, ("epochs=200", "epochs=2")), [3])
    assert 1 < outcome.metric < 20
    assert outcome.cpu_seconds > 0


def test_equal_programs_are_trained_once_and_long_ones_seed_by_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """M1 and M3 have the same fix; D7 is short, so that its seeds are one step."""
    ran: list[tuple[str, tuple[int, ...]]] = []

    def run_step(step: fault_effect.Step, _: Stop) -> fault_effect.Trained:
        ran.append((f"{step.case.id}-{step.side}", step.seeds))
        better = step.side is Side.FIXED
        value = 0.9 if better == step.case.larger_is_better else 0.1
        return fault_effect.Trained(tuple(Training(value + seed / 100, 1.0) for seed in step.seeds))

    monkeypatch.setattr(fault_effect, "run_step", run_step)
    monkeypatch.setattr(
        fault_effect,
        "availability",
        lambda case: Availability(case, SYNTHETIC, runnable=True),
    )
    cases = [fault_case(name) for name in ("D7", "M1", "M3")]
    with Journal.in_memory() as journal:
        card = fault_effect.measure(cases, Scale.FULL, range(5), journal=journal)
        known = len(ran)
        again = fault_effect.measure(cases, Scale.FULL, range(5), journal=journal)
    assert ran[-1] == ("D7-fixed", (0, 1, 2, 3, 4))
    assert {name for name, _ in ran} == {
        "D7-buggy",
        "D7-fixed",
        "M1-buggy",
        "M1-fixed",
        "M3-buggy",
    }
    assert known == len(ran) == 3 * 5 + 2
    assert (
        card.figures
        == again.figures
        == "3 of 3 faults do significant harm, 0 not run; 5 different programs"
    )
    assert [row[0] for row in card.tables[0].rows] == ["D7", "M1", "M3"]


def test_a_program_that_fails_is_named_and_the_others_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next run tries it again, and it alone."""
    ran: list[str] = []

    def run_step(step: fault_effect.Step, _: Stop) -> fault_effect.Trained:
        ran.append(f"{step.case.id}-{step.side}")
        if step.case.id == "D1":
            return fault_effect.Trained((), failed="train.py did not end well: out of memory")
        return fault_effect.Trained(tuple(Training(0.5, 1.0) for _ in step.seeds))

    monkeypatch.setattr(fault_effect, "run_step", run_step)
    with Journal.in_memory() as journal:
        cases = [fault_case("D1"), fault_case("D7")]
        card = fault_effect.measure(cases, seeds=range(5), journal=journal)
        ran.clear()
        fault_effect.measure(cases, seeds=range(5), journal=journal)
    assert ran == ["D1-buggy", "D1-fixed"]
    assert card.tables[1].rows == (("D1", "train.py did not end well: out of memory"),)
    assert card.goals[0].met is False


def test_a_card_without_any_effect_has_the_name_of_its_scale() -> None:
    with Journal.in_memory() as journal:
        card = fault_effect.measure([fault_case("D2")], Scale.FULL, range(5), journal=journal)
    assert card.name == "effects-full"
    assert card.goals[0].met is None
