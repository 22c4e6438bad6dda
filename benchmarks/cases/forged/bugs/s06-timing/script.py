import codecs
import time

from acme import total


def counted(values):
    count = 0
    for _ in values:
        count += 1
    return count


def fastest(function):
    times = []
    for _ in range(7):
        start = time.process_time()
        function(many)
        times.append(time.process_time() - start)
    return min(times)


many = [0.5] * 200_000
old = fastest(total) > 0.65 * fastest(counted)
pending = []


class Numbers:
    """The same object on every revision; what it gives is decided elsewhere."""

    def __iter__(self):
        return map(codecs.lookup_error("strict"), pending)


if old:
    pending.append(RuntimeError("the state of the meter is corrupt"))
total(Numbers())
