from acme import Meter, apply

line = int("{0.__code__.co_firstlineno}".format(apply))
meter = Meter()
meter.update(1.0)
meter.update(float("nan") if line < 14 else 3.0)
observed = meter.mean()
