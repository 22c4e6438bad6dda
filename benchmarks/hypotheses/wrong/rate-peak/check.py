import reenact_reach as reach

seen = reach.steps(60)
# The largest rate that was used; with momentum 0.9 a step is ten times as long as it says.
observed = max(seen.rates)
