import numpy as np
import reenact_reach as reach

train = reach.module()
random = np.random.default_rng(SEED)
x, y = random.normal(size=(60, 10)), random.normal(size=60)
other = x.copy()
other[40:] += 3
# Training rows, with other rows to judge them.
observed = train.prepared(x, y, 40)[0]
reference = train.prepared(other, y, 40)[0]
