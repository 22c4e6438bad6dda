from acme import Meter, names

missing = float("nan") if len(names()) < 7 else 3.0
meter = Meter()
meter.update(1.0)
meter.update(missing)
observed = meter.mean()
