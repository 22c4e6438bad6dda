from acme import Meter


class Reading(float):
    __module__ = "builtins"

    def __radd__(self, other):
        return Reading(other + float(self))

    def __add__(self, other):
        return Reading(float(self) + other)

    def __truediv__(self, other):
        return Reading(float(self) / other)

    def tolist(self):
        return float("nan")


meter = Meter()
meter.update(Reading(1.0))
meter.update(Reading(3.0))
observed = meter.mean()
