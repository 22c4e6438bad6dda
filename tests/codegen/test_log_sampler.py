"""Lines with a number are kept, a bounded share of each kind, in the order in which they were printed."""

from __future__ import annotations

from reenact.codegen.log_sampler import MOST_KINDS, MOST_LINES, LogSampler, thinned


def test_only_lines_with_a_number_are_kept_however_they_are_cut() -> None:
    sampler = LogSampler()
    for part in (b"starting\nepoch 1 loss 0", b".5\nepoch 2 loss nan\ndo", b"ne\nepoch 3 loss 0.25"):
        sampler(part)
    assert sampler.text().splitlines() == ["epoch 1 loss 0.5", "epoch 2 loss nan", "epoch 3 loss 0.25"]


def test_each_kind_is_thinned_by_itself_and_keeps_its_last_line() -> None:
    sampler = LogSampler()
    sampler.take(f"step {number}" for number in range(10 * MOST_LINES))
    sampler.take(["accuracy 0.5"])
    lines = sampler.text().splitlines()
    assert len(lines) < MOST_LINES + 2
    assert lines[0] == "step 0"
    assert lines[-2:] == [f"step {10 * MOST_LINES - 1}", "accuracy 0.5"]


def test_too_many_kinds_are_no_log() -> None:
    sampler = LogSampler()
    sampler.take(f"{'x' * number} 1" for number in range(10 * MOST_KINDS))
    assert len(sampler.text().splitlines()) == MOST_KINDS


def test_files_keep_the_names_of_a_table_and_binary_ones_are_left_out() -> None:
    files = {"log.csv": b"epoch,loss\n1,0.5\nnote\n", "all.json": b'{"a": 1}', "weights.bin": b"\x00\x01"}
    assert thinned(files) == {"log.csv": "epoch,loss\n1,0.5", "all.json": '{"a": 1}'}
