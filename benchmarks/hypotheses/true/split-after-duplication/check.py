import reenact_reach as reach

train = reach.module()
x, _, test_x, _ = train.prepared()
known = {tuple(row) for row in x.tolist()}
# Rows that judge and that were learned from.
observed = sum(tuple(row) in known for row in test_x.tolist())
