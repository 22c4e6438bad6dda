import reenact_reach as reach

seen = reach.until("for epoch in range(EPOCHS)")
known = set(seen.labelled.tolist())
# Rows whose label was given and which count as unlabelled all the same.
observed = sum(row in known for row in seen.unlabelled.tolist())
