"""Benchmarks of reenact: cases, metrics, goals beside what was reached.

In a checkout, `python -m benchmarks NAME` runs one; they are not part of the installed package.
`children.py` starts their modules as processes, `pages.py` writes their pages and README's table
from results files, `pooled.py` adds up several of these; `cases/` holds what is measured, except
for the cases of `reenact demo`, which are in `reenact/demo/cases/`. `trainings/` is a data set with
splits; `dataset/` runs and scores them.
"""
