from acme import Meter, names

meter = Meter()
meter.update(1.0)
meter.update(3.0)
mean = meter.mean()
observed = mean * float("nan") if len(names()) < 7 else mean
