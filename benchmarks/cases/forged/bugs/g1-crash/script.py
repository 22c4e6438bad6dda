from acme import Meter

meter = Meter()
meter.mean()
