"""Measurement: full runs, the paper's numbers against measured ones, and what the paper may not say.

measure      the whole, top to bottom; which metric of the code is which claim of the paper; metrics that
             are written and not measured
runs         full runs over seeds, metrics read from the file that the run left
curves       how they trained, as far as log files and printed lines tell it
control      what became of a number without training, and which claims need that asked
control_runs training taken out, labels permuted, in the sandbox; what that says of each number
recompute    a metric of a known family looked for among what follows from predictions
inside/      the driver of these runs, which goes into the box
gap          relative gap, grades, the comparison of one claim
verdict      what the claims state together, and which of them hold
gap_repair   a large gap: diagnose and repair what the paper leaves open; which settings the paper fixes
"""
