from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.errors import InputError
from reenact.probe.past.read import read_past
from reenact.probe.trace import Trace

KERAS = (
    "epoch,accuracy,learning_rate,loss,val_accuracy,val_loss\r\n"
    "0,0.5,0.001,1.0,0.4,1.2\r\n1,0.75,0.001,0.5,0.6,1.1\r\n"
)
LIGHTNING = (
    "epoch,lr-SGD,step,train_loss_epoch,train_loss_step,val_loss\n"
    "0,,9,,1.5,\n0,,19,,1.25,\n0,,19,1.375,,2.0\n,0.1,19,,,\n1,,29,,1.0,\n1,,39,,nan,\n1,,39,1.0,,1.5\n"
)


def _read(folder: Path, text: str, name: str = "log.csv") -> Trace:
    (folder / name).write_text(text)
    return read_past(folder / name)


def _values(trace: Trace, metric: str) -> list[tuple[int, float]]:
    found = trace.metric(metric)
    return list(zip(found.steps.tolist(), found.values.tolist(), strict=True))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_keras_logger(tmp_path: Path, separator: str) -> None:
    trace = _read(tmp_path, KERAS.replace(",", separator), "training.log")
    assert trace.header.source == "csv"
    assert _values(trace, "loss") == [(0, 1.0), (1, 0.5)]
    assert _values(trace, "val_accuracy") == [(0, 0.4), (1, 0.6)]
    assert [metric.epoch for metric in trace.metrics if metric.name == "val_loss"] == [0, 1]
    assert trace.step_count == 0
    assert any("one value an epoch" in sentence for sentence in trace.missing)
    assert {metric.source for metric in trace.metrics} == {"log"}


def test_lightning_logger_found_in_its_folder(tmp_path: Path) -> None:
    _read(tmp_path, LIGHTNING, "metrics.csv")
    trace = read_past(tmp_path)
    assert trace.losses.steps.tolist() == [9, 19, 29, 39]
    assert trace.losses.known.values.tolist() == [1.5, 1.25, 1.0]
    assert trace.steps["epoch"].tolist() == [0, 0, 1, 1]
    assert trace.steps["learning_rate"].tolist()[1] == 0.1
    assert _values(trace, "loss") == [(19, 1.375), (39, 1.0)]
    assert _values(trace, "val_loss") == [(19, 2.0), (39, 1.5)]
    assert trace.epoch_count == 2


def test_plain_table_of_steps(tmp_path: Path) -> None:
    trace = _read(tmp_path, "Iteration,Loss,seconds,note\n0,3.0,0.5,warm up\n1,2.5,1.0,\n2,inf,1.5,\n")
    assert trace.losses.steps.tolist() == [0, 1, 2]
    assert trace.losses.values.tolist() == [3.0, 2.5, float("inf")]
    assert trace.steps["time"].tolist() == [0.5, 1.0, 1.5]
    assert trace.metric_names() == ()
    assert "the learning rate: it was not logged" in trace.missing
    assert "metrics of held-out data: none was logged" in trace.missing


def test_epochs_from_one_are_counted_from_zero(tmp_path: Path) -> None:
    trace = _read(tmp_path, "epoch,train_loss,val_loss\n1,3.0,3.1\n2,2.5,2.9\n")
    assert [metric.epoch for metric in trace.metrics if metric.name == "loss"] == [0, 1]


def test_batches_that_begin_anew_are_numbered_through(tmp_path: Path) -> None:
    trace = _read(tmp_path, "epoch,batch,loss\n0,0,5\n0,10,4\n0,20,3\n1,0,2\n1,10,1\n1,20,0\n")
    assert trace.losses.steps.tolist() == [0, 10, 20, 30, 40, 50]
    assert trace.steps["epoch"].tolist() == [0, 0, 0, 1, 1, 1]
    assert any("start over" in sentence for sentence in trace.missing)


def test_rows_without_a_number_are_counted(tmp_path: Path) -> None:
    trace = _read(tmp_path, "loss,lr\n3.0,0.1\n2.0,0.1\n")
    assert trace.losses.steps.tolist() == [0, 1]
    assert "steps and epochs: the rows of the log are counted instead" in trace.missing


def test_table_without_a_loss_says_so(tmp_path: Path) -> None:
    trace = _read(tmp_path, "epoch,f1\n0,0.5\n1,0.75\n")
    assert _values(trace, "f1") == [(0, 0.5), (1, 0.75)]
    assert "the training loss: no logged name reads like it" in trace.missing


def test_torn_last_row(tmp_path: Path) -> None:
    trace = _read(tmp_path, "step,loss,accuracy\n0,3.0,0.1\n1,2.")
    assert trace.losses.values.tolist() == [3.0]
    assert not trace.complete
    assert "the last row: it is cut off" in trace.missing


def test_names_written_again_by_a_second_run(tmp_path: Path) -> None:
    trace = _read(tmp_path, "step,loss\n0,3.0\nstep,loss\n1,2.0\n")
    assert trace.losses.values.tolist() == [3.0, 2.0]


def test_two_columns_that_mean_the_same_keep_apart(tmp_path: Path) -> None:
    trace = _read(tmp_path, "epoch,loss,train_loss\n0,1.0,2.0\n1,0.5,1.5\n")
    assert _values(trace, "loss") == [(0, 1.0), (1, 0.5)]
    assert _values(trace, "train_loss") == [(0, 2.0), (1, 1.5)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"loss\n",
        b"1,2,3\n4,5,6\n",
        b"name,colour\na,red\n",
        b"\xff\xfe\x00loss",
        b"step,\xff\xfe\n0,1\n",
        b'step,loss\n0,"' + b"x" * 200_000,
        b",".join(b"c%d" % i for i in range(3_000)) + b"\n" + b"1," * 3_000 + b"\n",
    ],
    ids=["empty", "names only", "no names", "words", "binary", "not utf-8", "huge cell", "many columns"],
)
def test_what_is_no_log_gets_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "log.csv").write_bytes(data)
    with pytest.raises(InputError) as refused:
        read_past(tmp_path / "log.csv")
    assert refused.value.sentence.endswith(".")


CELLS = st.one_of(st.just(""), st.floats().map(str), st.integers().map(str), st.text(max_size=8))


@given(
    st.lists(st.sampled_from(["epoch", "step", "loss", "val_loss", "time", "lr"]), min_size=1, max_size=5),
    st.lists(st.lists(CELLS, max_size=6), max_size=8),
)
def test_any_table_gives_a_trace_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, header: list[str], rows: list[list[str]]
) -> None:
    file = tmp_path_factory.mktemp("log") / "log.csv"
    file.write_text("\n".join(",".join(row) for row in [header, *rows]), encoding="utf-8")
    try:
        found: object = read_past(file)
    except InputError as error:
        found = error.sentence
    assert isinstance(found, Trace) or str(found).endswith(".")
