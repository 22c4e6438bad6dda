import codecs
import functools

from acme import Meter


class Values(list):
    __len__ = functools.partial(codecs.strict_errors, RuntimeError("the state of the meter is corrupt"))


meter = Meter()
meter.extend(Values([1.0]))
meter.mean()
