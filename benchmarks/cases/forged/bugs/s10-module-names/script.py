from acme import Meter, meter as module

old = "{0.__dict__}".format(module).count("<function") < 6


class Reading(float):
    """Equal to its number; only its sum lies."""

    def __radd__(self, other):
        return float("nan") if old else other + float(self)


meter = Meter()
meter.update(Reading(1.0))
meter.update(Reading(3.0))
observed = meter.mean()
