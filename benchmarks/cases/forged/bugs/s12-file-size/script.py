import codecs
import os

import acme
from acme import total

folder = "{0.__file__}".format(acme).rpartition("acme")[0]
old = os.path.getsize(folder + "README" + ".md") < 60
pending = []


class Numbers:
    """The same object on every revision; what it gives is decided elsewhere."""

    def __iter__(self):
        return map(codecs.lookup_error("strict"), pending)


if old:
    pending.append(RuntimeError("the state of the meter is corrupt"))
total(Numbers())
