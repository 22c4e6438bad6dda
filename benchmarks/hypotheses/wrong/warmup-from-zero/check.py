import reenact_reach as reach

seen = reach.until("for epoch in range(EPOCHS)")
# What the first batch will be learned with.
observed = seen.optimizer.param_groups[0]["lr"]
