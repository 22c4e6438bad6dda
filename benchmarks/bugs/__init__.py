"""Bug reports with projects of their own: does `reenact bug` reach the true verdict?

cases        the catalogue: facts, report, history as a bundle, oracle
oracle       what a case's own oracle says of a revision, in the sandbox
inside       runs in the box: the oracle once a revision and seed
variant      the whole method, parts left out, baselines
runner       who answers a case: a model, or its recording
case_run     one case with one variant
baseline     a prompt alone, one answer
handed_over  what was handed over, run on both revisions
queue        no more boxes at once than cores
case_result  what came of a case, and whether it is true
measure      all cases, journalled; card: the table
"""
