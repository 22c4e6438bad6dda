import reenact_reach as reach

seen = reach.until("for epoch in range(EPOCHS)")
first = [next(iter(seen.val_loader))[1] for _ in range(2)]
# The first batch of two rounds over the held-out rows.
observed, reference = first
