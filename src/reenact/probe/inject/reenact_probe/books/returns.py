"""Returns of a policy gradient: does the weight of an action count what came after it, or what came before?

A return is the reward of a step and, discounted, the return of the next one. Rewards are searched for among
the lists of numbers, as many as actions, that the program holds where its loss goes backward: it is their
values that tell.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy

from reenact_probe.books.addends import Addend, Addends
from reenact_probe.books.policies import FEWEST, sense_of
from reenact_probe.places import is_library
from reenact_probe.types import Array, Facts

MOST_ACTIONS = 4096
MOST_LISTS = 64
FRAMES = 5
EXACT = 1e-3
"""Of the spread of the weights: what a recursion may leave unexplained."""
LEAST = 0.05
"""Discount below which a return is a reward and nothing else."""


def direction_of(found: Addends) -> Facts | None:
    """Whether the weights of a loss are returns, in which direction they were summed; none where they are
    not known to be returns.
    """
    weights = _in_order(found.parts)
    if weights is None or not numpy.isfinite(weights).all() or not weights.std():
        return None
    lists = [one for one, _ in zip(_lists(len(weights)), range(MOST_LISTS))]
    for name, step in (("backward", 1), ("forward", -1)):
        if any(_follows(weights[::step], rewards[::step]) for rewards in lists):
            return {"direction": name}
    return None


def _in_order(parts: list[Addend]) -> Array | None:
    """The weights of actions in the order in which their probabilities were computed, positive where a step
    makes an action likelier.
    """
    known = [(part, sense) for part in parts if (sense := sense_of(part.node))]
    if not FEWEST <= len(known) <= MOST_ACTIONS:
        return None
    held = {id(part.weights[-1][0]) if part.weights else 0 for part, _ in known}
    if len(held) != 1:
        return None
    signs = numpy.array([-sense * part.sign for part, sense in known])
    times = numpy.array([int(part.node._sequence_nr()) for part, _ in known])
    if known[0][0].weights:
        tensor = known[0][0].weights[-1][0]
        if tensor.numel() != len(known):
            return None
        values = tensor.detach().reshape(-1).double().cpu().numpy()
        if not (numpy.diff(times) > 0).all() and not (numpy.diff(times) < 0).all():
            return None
        return (numpy.sign(signs) * values)[numpy.argsort(times)]
    # A number of its own is a factor of the sign already.
    return signs[numpy.argsort(times)]


def _follows(weights: Array, rewards: Array) -> bool:
    """Whether each weight is a multiple of its reward and, discounted, of the next weight, but for a number
    that is added to all.
    """
    now = weights[:-1]
    after = weights[1:]
    reward = rewards[:-1]
    one = numpy.ones(len(now))
    if numpy.ptp(reward) == 0:
        table = numpy.stack([after, one], axis=1)
        discount, rest = _fit(table, now) or (0.0, 0.0)
        return LEAST < discount <= 1 + EXACT and rest * reward[0] > 0
    table = numpy.stack([after, one, reward], axis=1)
    discount, _, factor = _fit(table, now) or (0.0, 0.0, 0.0)
    share = factor * reward.std() / weights.std()
    return LEAST < discount <= 1 + EXACT and share > EXACT


def _fit(table: Array, values: Array) -> tuple[float, ...] | None:
    """Coefficients of an exact linear relation; none where there is none, or more than one."""
    scale = numpy.maximum(abs(table).max(axis=0), 1e-30)
    found, _, rank, _ = numpy.linalg.lstsq(table / scale, values, rcond=1e-6)
    off = abs(table / scale @ found - values).max()
    if rank < table.shape[1] or off > EXACT * values.std():
        return None
    return tuple((found / scale).tolist())


def _lists(count: int) -> Iterator[Array]:
    """Lists of so many numbers that the program holds now, in its functions and in their objects."""
    seen: set[int] = set()
    for frame in _frames():
        for value in list(frame.f_locals.values()):
            held = getattr(value, "__dict__", None)
            inner = list(held.values()) if isinstance(held, dict) and not _is_module(value) else []
            for one in (value, *inner):
                if id(one) not in seen:
                    seen.add(id(one))
                    numbers = _numbers(one, count)
                    if numbers is not None:
                        yield numbers


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    left = FRAMES
    while frame is not None and left:
        if not is_library(frame.f_code.co_filename):
            left -= 1
            yield frame
        frame = frame.f_back


def _is_module(value: Any) -> bool:
    return isinstance(value, type(sys))


def _numbers(value: Any, count: int) -> Array | None:
    """A list of so many numbers as an array; none for anything else."""
    if not hasattr(value, "__len__") or isinstance(value, (str, bytes, dict, set)):
        return None
    if hasattr(value, "is_cpu"):
        if not value.is_cpu or value.dim() != 1 or value.requires_grad:
            return None
        value = value.detach().tolist() if value.numel() == count else []
    try:
        if len(value) != count or not all(
            isinstance(one, (int, float, numpy.number)) for one in value
        ):
            return None
        numbers: Array = numpy.asarray(list(value), float)
    except Exception:  # noqa: BLE001 - a class of the program may do as it likes
        return None
    return numbers if numpy.isfinite(numbers).all() else None
