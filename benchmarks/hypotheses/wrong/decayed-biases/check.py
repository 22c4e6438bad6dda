import reenact_reach as reach

seen = reach.steps(10)
biases = [one for one in seen.model.parameters() if one.ndim == 1]
reference = [one.detach().clone() for one in biases]
for one in seen.model.parameters():
    one.grad.zero_()
seen.optimizer.step()
# A step without any gradient.
observed = biases
