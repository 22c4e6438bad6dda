"""Bug reports with projects of their own: does `reenact bug` reach the true verdict?

cases    the catalogue: facts, report, history as a bundle, oracle
oracle   what a case's own oracle says of a revision, in the sandbox
inside   runs in the box: the oracle once a revision and seed
"""
