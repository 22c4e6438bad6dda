import reenact_reach as reach

seen = reach.until("for epoch in range(EPOCHS)")
# Rows that one epoch learns from, of those that there are.
observed = sum(len(targets) for _, targets in seen.loader)
reference = len(seen.rows)
