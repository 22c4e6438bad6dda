"""The data set of trainings: what is true of each, its splits, one runner, one score card.

data      benchmarks/trainings: a folder a training (program, truth.toml), splits.toml, kinds.toml, LOCK
reading   training.py, foreign.py (programs that are not kept here), splits.py, kinds.py, lock.py, problems.py
running   asked.py (what is asked of every training), runner.py, ran.py; own.py runs what is kept here,
          boxed.py and checkout.py foreign programs; inside.py runs next to a program
scoring   result.py, truth.py (whether a finding is true), scoring.py (counts), repair_card.py,
          card.py with a layout for each sort of programs; fixes.py counts the fixes of findings
parts     part.py (three splits that were drawn together), readings.py (what two readers say),
          layout_part.py
others    others.py: other tools attached to the same programs
"""
