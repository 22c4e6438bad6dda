import reenact_reach as reach

seen = reach.until("model.compile(")
right = seen.labels[:10]
# Outputs that are sure and right for every image.
observed = float(seen.loss(right, 20 * right))
