"""One effect for each of many names: one after another, or several at once in processes of
their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from reenact.errors import Stopped
from reenact.types import Progress, Stop, Tell

Given = TypeVar("Given")
Made = TypeVar("Made")


def several(
    wanted: Mapping[str, Given],
    effect: Callable[[Given, Stop], Made],
    *,
    what: str,
    jobs: int,
    tell: Tell,
    stop: Stop,
) -> Iterator[Mapping[str, Made]]:
    """Results as they come. With several jobs `effect` is a function of a module, and hears no
    stop.
    """
    if jobs == 1:
        for number, (name, given) in enumerate(wanted.items()):
            _go_on(stop)
            tell(Progress(what, number, len(wanted), name))
            yield {name: effect(given, stop)}
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_alone, effect, given): name for name, given in wanted.items()}
        try:
            for number, future in enumerate(as_completed(futures)):
                _go_on(stop)
                tell(Progress(what, number + 1, len(wanted), futures[future]))
                yield {futures[future]: future.result()}
        finally:
            # Whatever ends it, a stop or an error: what has not begun is not run for nobody.
            pool.shutdown(cancel_futures=True)


def _alone(effect: Callable[[Given, Stop], Made], given: Given) -> Made:
    return effect(given, Stop())


def _go_on(stop: Stop) -> None:
    if stop.asked:
        raise Stopped("Stopped between two cases; the same command continues.")
