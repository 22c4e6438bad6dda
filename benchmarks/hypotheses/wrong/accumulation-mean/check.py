import reenact_reach as reach

seen = reach.at("backward")
# What is differentiated, and the loss of the batch.
observed = seen.arguments[0]
reference = seen.loss
