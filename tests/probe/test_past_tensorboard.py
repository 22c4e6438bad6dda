from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.errors import InputError
from reenact.probe.past.events import tensor_scalar
from reenact.probe.past.names import Level, understand
from reenact.probe.past.read import read_past
from reenact.probe.past.records import crc32c, masked
from reenact.probe.trace import Trace

FILES = Path(__file__).parent / "past_files"


def record(body: bytes) -> bytes:
    length = struct.pack("<Q", len(body))
    return length + struct.pack("<I", masked(length)) + body + struct.pack("<I", masked(body))


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, value: int | bytes, kind: int = 2) -> bytes:
    head = varint(number << 3 | (0 if isinstance(value, int) else kind))
    if isinstance(value, int):
        return head + varint(value)
    return head + (varint(len(value)) if kind == 2 else b"") + value


def simple(tag: str, value: float) -> bytes:
    return field(1, tag.encode()) + field(2, struct.pack("<f", value), 5)


def event(step: int, values: Iterable[bytes], time: float = 1e9) -> bytes:
    summary = b"".join(field(1, value) for value in values)
    return record(field(1, struct.pack("<d", time), 1) + field(2, step) + field(5, summary))


def scalars(tag: str, values: Iterable[float], *, every: int = 1, first: int = 0) -> bytes:
    return b"".join(
        event(first + every * at, [simple(tag, value)], 1e9 + at) for at, value in enumerate(values)
    )


def _read(folder: Path, data: bytes, name: str = "events.out.tfevents.1") -> Trace:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return read_past(file)


def _values(trace: Trace, metric: str) -> list[tuple[int, float]]:
    found = trace.metric(metric)
    return [
        (int(step), round(float(value), 4)) for step, value in zip(found.steps, found.values, strict=True)
    ]


def test_checksum_of_the_published_example() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_file_that_torch_wrote() -> None:
    """Loss and accuracy were logged together, at the same five steps: one value an epoch."""
    trace = read_past(FILES / "torch.tfevents")
    assert trace.header.source == "tensorboard"
    assert trace.header.started == 1.7e9
    assert _values(trace, "loss") == [(0, 2.0), (10, 1.0), (20, 0.6667), (30, 0.5), (40, 0.4)]
    assert _values(trace, "val_accuracy") == [(0, 0.5), (10, 0.6), (20, 0.7), (30, 0.8), (40, 0.9)]
    assert _values(trace, "learning_rate") == [(0, 0.01)]
    assert trace.seconds == pytest.approx(4.5)
    assert trace.complete
    assert any("gradients" in sentence for sentence in trace.missing)
    assert any("single steps" in sentence for sentence in trace.missing)


def test_folder_that_keras_wrote(tmp_path: Path) -> None:
    """Scalars as tensors, training and validation in two folders, steps that are epochs."""
    (tmp_path / "train").mkdir()
    shutil.copy(FILES / "keras_train.tfevents", tmp_path / "train" / "events.out.tfevents.1.v2")
    _read(tmp_path, scalars("epoch_loss", [3.0, 2.0, 2.5, 3.5]), "validation/events.out.tfevents.1.v2")
    trace = read_past(tmp_path)
    assert _values(trace, "loss") == [(0, 1.0), (1, 0.5), (2, 0.3333), (3, 0.25)]
    assert _values(trace, "val_loss") == [(0, 3.0), (1, 2.0), (2, 2.5), (3, 3.5)]
    assert {metric.epoch for metric in trace.metrics} == {0, 1, 2, 3}
    assert trace.step_count == 0
    assert not any("held-out" in sentence for sentence in trace.missing)


def test_losses_of_steps_become_steps(tmp_path: Path) -> None:
    data = scalars("train/loss", [4.0, 3.0, 2.0], every=10) + scalars("lr", [0.1, 0.1, 0.01], every=10)
    trace = _read(tmp_path, data + scalars("val/loss", [2.5], first=25))
    assert trace.losses.steps.tolist() == [0, 10, 20]
    assert trace.losses.values.tolist() == [4.0, 3.0, 2.0]
    assert trace.steps["learning_rate"].tolist() == pytest.approx([0.1, 0.1, 0.01])
    assert _values(trace, "val_loss") == [(25, 2.5)]
    assert len(trace.sampled_steps) == 0
    assert "the loss of every step: the log holds one in about 10" in trace.missing


def test_epochs_that_lightning_logs_under_a_tag(tmp_path: Path) -> None:
    data = scalars("train_loss", [4.0, 3.0, 2.0, 1.0]) + scalars("epoch", [0.0, 0.0, 1.0, 1.0])
    trace = _read(tmp_path, data)
    assert trace.steps["epoch"].tolist() == [0, 0, 1, 1]
    assert trace.epoch_count == 2
    assert trace.metric_names() == ()


def test_several_values_in_one_event(tmp_path: Path) -> None:
    trace = _read(tmp_path, event(7, [simple("loss", 1.0), simple("val_loss", 2.0)]))
    assert _values(trace, "loss") == [(7, 1.0)]
    assert _values(trace, "val_loss") == [(7, 2.0)]


def test_a_number_that_is_none_stays_one(tmp_path: Path) -> None:
    trace = _read(tmp_path, scalars("loss", [1.0, float("inf"), float("nan")]))
    assert trace.losses.values.tolist()[1] == float("inf")
    assert len(trace.losses.known) == 2


def test_run_started_again_replaces_its_later_steps(tmp_path: Path) -> None:
    _read(tmp_path, scalars("loss", [9.0, 8.0, 7.0, 6.0]), "events.out.tfevents.1")
    _read(tmp_path, scalars("loss", [5.0, 4.0], first=2), "events.out.tfevents.2")
    assert read_past(tmp_path).losses.values.tolist() == [9.0, 8.0, 5.0, 4.0]


def test_curves_of_one_plot(tmp_path: Path) -> None:
    """PyTorch's `add_scalars("run/loss", {"train": ..., "val": ...})` makes a folder for each curve."""
    _read(tmp_path, scalars("other", [1.0]), "events.out.tfevents.1")
    _read(tmp_path, scalars("run/loss", [3.0, 2.0]), "run_loss_train/events.out.tfevents.2")
    _read(tmp_path, scalars("run/loss", [4.0]), "run_loss_val/events.out.tfevents.3")
    trace = read_past(tmp_path)
    assert _values(trace, "val_run_loss") == [(0, 4.0)]
    assert _values(trace, "run_loss") == [(0, 3.0), (1, 2.0)]


@pytest.mark.parametrize("places", [("a", "b"), (".", "b"), ("a/train", "b/train"), ("train", "b")])
def test_several_runs_are_not_mixed(tmp_path: Path, places: tuple[str, str]) -> None:
    for place in places:
        _read(tmp_path, scalars("loss", [1.0]), f"{place}/events.out.tfevents.1")
    with pytest.raises(InputError, match="holds 2 runs"):
        read_past(tmp_path)


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        (field(1, 1) + field(2, b"") + field(4, struct.pack("<f", 0.5)), 0.5),
        (field(1, 2) + field(4, struct.pack("<d", 0.1)), 0.1),
        (field(1, 9) + field(4, struct.pack("<q", -3)), -3.0),
        (field(1, 14) + field(4, b"\x80\x3f"), 1.0),
        (field(1, 1) + field(5, struct.pack("<f", 2.5)), 2.5),
        (field(1, 1) + field(5, struct.pack("<f", 2.5), 5), 2.5),
        (field(1, 2) + field(6, struct.pack("<d", 2.5), 1), 2.5),
        (field(1, 3) + field(7, -4), -4.0),
        (field(1, 9) + field(10, varint(12)), 12.0),
        (field(1, 19) + field(13, 0x3C00), 1.0),
        (field(1, 10) + field(11, 1), 1.0),
        (field(1, 1) + field(2, field(2, field(1, 3))) + field(4, bytes(12)), None),
        (field(1, 7) + field(8, b"text"), None),
        (field(1, 1) + field(4, b"\0\0"), None),
    ],
)
def test_tensors_of_every_type(tensor: bytes, value: float | None) -> None:
    assert tensor_scalar(tensor) == (pytest.approx(value) if value is not None else None)


def test_torn_tail_keeps_what_came_before(tmp_path: Path) -> None:
    data = scalars("loss", [3.0, 2.0, 1.0])
    trace = _read(tmp_path, data[:-7])
    assert trace.losses.values.tolist() == [3.0, 2.0]
    assert not trace.complete
    assert "the end of events.out.tfevents.1: the file stops inside a record" in trace.missing


def test_damaged_record_is_left_out_and_named(tmp_path: Path) -> None:
    first, rest = scalars("loss", [3.0]), scalars("loss", [2.0, 1.0], first=1)
    broken = bytearray(first)
    broken[-5] ^= 0xFF
    trace = _read(tmp_path, bytes(broken) + rest)
    assert trace.losses.values.tolist() == [2.0, 1.0]
    assert "1 damaged records of events.out.tfevents.1" in trace.missing


def test_lost_framing_ends_the_trace_there(tmp_path: Path) -> None:
    first = scalars("loss", [3.0])
    trace = _read(tmp_path, first + b"\xff" * 100)
    assert trace.losses.values.tolist() == [3.0]
    assert not trace.complete
    assert (
        f"what follows byte {len(first)} of events.out.tfevents.1: the file is damaged there" in trace.missing
    )


def test_large_record_is_stepped_over(tmp_path: Path) -> None:
    picture = record(field(5, bytes(100_000)))
    trace = _read(tmp_path, scalars("loss", [3.0]) + picture + scalars("loss", [2.0], first=1))
    assert trace.losses.values.tolist() == [3.0, 2.0]
    assert any("1 large records" in sentence for sentence in trace.missing)


def test_length_that_promises_everything(tmp_path: Path) -> None:
    head = struct.pack("<Q", 2**63)
    trace = _read(tmp_path, scalars("loss", [3.0]) + head + struct.pack("<I", masked(head)) + b"x" * 50)
    assert trace.losses.values.tolist() == [3.0]


@pytest.mark.parametrize("cut", range(0, 950, 13))
def test_every_cut_gives_a_trace_or_a_sentence(tmp_path: Path, cut: int) -> None:
    data = (FILES / "keras_train.tfevents").read_bytes()
    _trace_or_sentence(tmp_path, data[:cut])


@given(st.lists(st.tuples(st.integers(0, 949), st.integers(1, 255)), max_size=5))
def test_every_damage_gives_a_trace_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    data = bytearray((FILES / "keras_train.tfevents").read_bytes())
    for at, change in changes:
        data[at] ^= change
    _trace_or_sentence(tmp_path_factory.mktemp("log"), bytes(data))


@given(st.lists(st.binary(max_size=60), max_size=5))
def test_sound_records_with_any_content(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes]
) -> None:
    data = b"".join(record(field(5, field(1, body))) for body in bodies)
    _trace_or_sentence(tmp_path_factory.mktemp("log"), data)


def _trace_or_sentence(folder: Path, data: bytes) -> None:
    try:
        found: object = _read(folder, data)
    except InputError as error:
        found = error.sentence
    assert isinstance(found, Trace) or str(found).endswith(".")


@pytest.mark.parametrize("kind", ["nothing", "empty folder", "fifo", "link below the folder", "other bytes"])
def test_what_is_no_log_gets_a_sentence(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log"
    if kind == "empty folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link below the folder":
        path.mkdir()
        (path / "events.out.tfevents.1").symlink_to(FILES / "torch.tfevents")
    elif kind == "other bytes":
        path = tmp_path / "events.out.tfevents.1"
        path.write_bytes(b"\x89PNG" + bytes(100))
    with pytest.raises(InputError):
        read_past(path)


@pytest.mark.parametrize(
    ("logged", "metric", "level"),
    [
        ("Loss/train", "loss", Level.UNKNOWN),
        ("train_loss_step", "loss", Level.STEP),
        ("epoch_loss", "loss", Level.EPOCH),
        ("batch_loss", "loss", Level.STEP),
        ("valid.acc", "val_accuracy", Level.UNKNOWN),
        ("test/Accuracy", "test_accuracy", Level.UNKNOWN),
        ("trainLoss", "loss", Level.UNKNOWN),
        ("lr-Adam", "learning_rate", Level.UNKNOWN),
        ("train/learning_rate", "learning_rate", Level.UNKNOWN),
        ("eval/loss", "val_loss", Level.UNKNOWN),
        ("grad_norm", "grad_norm", Level.UNKNOWN),
        ("train", "train", Level.UNKNOWN),
    ],
)
def test_names_that_mean_the_same(logged: str, metric: str, level: Level) -> None:
    found = understand(logged)
    assert (found.metric, found.level) == (metric, level)
