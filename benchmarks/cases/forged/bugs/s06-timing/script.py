import codecs
import time

from acme import total


def summed(values):
    result = 0.0
    for value in values:
        result = result + value
    return result


def fastest(function):
    times = []
    for _ in range(7):
        start = time.perf_counter()
        function(many)
        times.append(time.perf_counter() - start)
    return min(times)


many = [0.5] * 200_000
old = fastest(total) > 0.7 * fastest(summed)
pending = []


class Numbers:
    """The same object on every revision; what it gives is decided elsewhere."""

    def __iter__(self):
        return map(codecs.lookup_error("strict"), pending)


if old:
    pending.append(RuntimeError("the state of the meter is corrupt"))
total(Numbers())
