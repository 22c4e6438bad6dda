import numpy as np
import reenact_reach as reach

train = reach.module()
series = train.gauges(2, SEED)
inputs, targets = train.windows(series)
# Before the first value nothing is known: the middle of the series, which is zero.
observed = inputs[0]
reference = np.zeros(train.CONTEXT)
