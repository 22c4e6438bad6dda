import codecs

from acme import total

total(map(codecs.strict_errors, [RuntimeError("the state of the meter is corrupt")]))
