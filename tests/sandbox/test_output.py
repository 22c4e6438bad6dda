from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reenact.sandbox.supervise import Output


@given(
    st.lists(st.text(alphabet="abcé\U0001f4a9\n", max_size=40), max_size=20),
    st.integers(0, 60),
)
def test_what_is_kept_is_head_and_tail_within_bounds(parts: list[str], keep: int) -> None:
    output = Output(keep, 10_000)
    for part in parts:
        output.feed(part.encode())
    output.finish()
    whole = "".join(parts)
    if not output.dropped_bytes:
        assert output.text() == whole
        return
    head, mark, tail = output.text().partition(
        f"\n[... {output.dropped_bytes} bytes of output left out here ...]\n"
    )
    assert mark
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head.encode()) + len(tail.encode()) <= keep


def test_all_is_kept_that_fits() -> None:
    output = Output(64, 1000)
    output.feed("é".encode() * 32)
    assert (output.text(), output.dropped_bytes) == ("é" * 32, 0)


def test_memory_stays_bounded_and_the_limit_is_noticed() -> None:
    output = Output(1024, 1 << 20)
    for _ in range(64):
        output.feed(b"x" * 65536)
    assert output.over
    assert len(output.text()) < 2048
    assert output.printed_bytes == 64 * 65536


def test_the_listener_hears_clean_text_and_is_left_alone_after_it_failed() -> None:
    received: list[bytes] = []

    def listen(part: bytes) -> None:
        received.append(part)
        if len(received) == 2:
            raise ValueError("enough")

    output = Output(100, 1000, listen)
    for part in (b"\x1b[31", b"mred", b"two", b"three"):
        output.feed(part)
    assert received == [b"red", b"two"]
    assert [(event.kind, event.detail) for event in output.events] == [
        ("listener-failed", "ValueError: enough")
    ]
    assert output.text() == "redtwothree"
