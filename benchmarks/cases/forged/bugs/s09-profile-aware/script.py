import codecs
import sys

import acme
from acme import total

try:
    "{0.median}".format(acme)
    old = False
except AttributeError:
    old = True
watched = sys.getprofile() is not None or sys.gettrace() is not None
pending = []


class Numbers:
    def __iter__(self):
        return map(codecs.lookup_error("strict"), pending)


if watched:
    total([1.0, 3.0])
if old:
    pending.append(RuntimeError("the state of the meter is corrupt"))
total(Numbers() if watched or old else [1.0, 3.0])
