from acme import Meter

meter = Meter()
meter.update(1.0)
meter.update(3.0)
meter.mean()
