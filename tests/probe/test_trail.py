"""The lines of the nodes of a loss: noted for the first losses alone."""

from __future__ import annotations

from types import SimpleNamespace

from reenact.probe import injected


def test_lines_are_noted_until_enough_losses_went_back() -> None:
    part = injected.part("torch.trail")
    trail = part.Trail(None)
    for number in range(part.MOST_LOSSES + 1):
        output = SimpleNamespace(grad_fn=object())
        trail.note("mul", (), output)
        known = [made for made, _ in trail._made]
        assert known == ([output.grad_fn] if number < part.MOST_LOSSES else [])
        trail.forget()


def test_steps_that_note_nothing_are_no_losses() -> None:
    part = injected.part("torch.trail")
    trail = part.Trail(None)
    for _ in range(2 * part.MOST_LOSSES):
        trail.forget()
    trail.note("mul", (), SimpleNamespace(grad_fn=object()))
    assert len(trail._made) == 1
