"""What is kept of what a run tells: a bounded share of each kind of line."""

from __future__ import annotations

from reenact.paper.develop.hearing import LARGEST_WHOLE, MOST_KINDS, MOST_LINES, Heard, thinned


def test_lines_come_in_pieces_and_only_those_with_numbers_are_kept() -> None:
    heard = Heard()
    for piece in (b"loading\nepoch 1 lo", b"ss 0.5\nfine\nepoch 2", b" loss 0.4"):
        heard(piece)
    assert heard.text() == "epoch 1 loss 0.5\nepoch 2 loss 0.4"


def test_each_method_is_thinned_by_itself() -> None:
    heard = Heard()
    for epoch in range(20 * MOST_LINES):
        heard(f"a: epoch {epoch} loss 0.5\nb: epoch {epoch} loss 1e-05\n".encode())
    lines = heard.text().splitlines()
    for name in "ab":
        kept = [line for line in lines if line.startswith(name)]
        assert MOST_LINES // 2 <= len(kept) <= MOST_LINES
        assert f"epoch {20 * MOST_LINES - 1} " in kept[-1]
    assert lines[0] == "a: epoch 0 loss 0.5"


def test_a_flood_of_kinds_and_of_one_line_is_bounded() -> None:
    heard = Heard()
    for number in range(10 * MOST_KINDS):
        heard(f"{'x' * number} {number}\n".encode())
    for _ in range(100):
        heard(b"1" * 100_000)
    assert len(heard.text().splitlines()) <= MOST_KINDS


def test_logs_keep_their_first_row_and_json_is_kept_whole_or_not_at_all() -> None:
    rows = "".join(f"{number},0.5\n" for number in range(10 * MOST_LINES))
    found = thinned(
        {
            "log.csv": f"epoch,loss\n{rows}".encode(),
            "small.json": b"[1, 2]",
            "large.json": b" " * (LARGEST_WHOLE + 1),
            "picture.log": b"\0\1",
        }
    )
    assert set(found) == {"log.csv", "small.json"}
    lines = found["log.csv"].splitlines()
    assert lines[0] == "epoch,loss"
    assert len(lines) <= MOST_LINES + 1
