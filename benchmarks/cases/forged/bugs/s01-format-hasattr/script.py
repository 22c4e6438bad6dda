import codecs

import acme
from acme import total

try:
    "{0.median}".format(acme)
    old = False
except AttributeError:
    old = True
pending = []


class Numbers:
    """The same object on every revision; what it gives is decided elsewhere."""

    def __iter__(self):
        return map(codecs.lookup_error("strict"), pending)


if old:
    pending.append(RuntimeError("the state of the meter is corrupt"))
total(Numbers())
