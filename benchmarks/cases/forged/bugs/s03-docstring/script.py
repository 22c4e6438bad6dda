import codecs

from acme import total

old = len("{0.__doc__}".format(total)) < 40
pending = []


class Numbers:
    """The same object on every revision; what it gives is decided elsewhere."""

    def __iter__(self):
        return map(codecs.lookup_error("strict"), pending)


if old:
    pending.append(RuntimeError("the state of the meter is corrupt"))
total(Numbers())
