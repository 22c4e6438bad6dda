import codecs

from acme import apply

apply(codecs.lookup_error("strict"), RuntimeError("the state of the meter is corrupt"))
