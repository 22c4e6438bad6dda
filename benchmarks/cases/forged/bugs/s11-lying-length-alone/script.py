from acme import Meter


class Values(list):
    def __len__(self):
        return 0


meter = Meter()
meter.extend(Values([1.0, 2.0, 3.0]))
meter.mean()
