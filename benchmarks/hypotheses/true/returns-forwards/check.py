import reenact_reach as reach

train = reach.module()
rewards = [0.0, 0.0, 1.0]
# The first step still has the whole of the last reward to come, twice discounted.
observed = train.returns(rewards)
reference = [train.GAMMA**2, train.GAMMA, 1.0]
