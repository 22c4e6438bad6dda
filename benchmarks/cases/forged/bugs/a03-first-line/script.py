import codecs

from acme import apply, total

line = int("{0.__code__.co_firstlineno}".format(apply))
if line < 14:
    total(map(codecs.strict_errors, [RuntimeError("the state of the meter is corrupt")]))
else:
    total([1.0, 3.0])
