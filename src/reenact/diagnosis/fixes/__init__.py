"""From suggested edits to the fix of a finding: each is its own detector's to judge.

spoken      what the detectors say of a program, before an edit and after it
text        the edited text: it parses, the detector is silent; nothing is run
kept        what an edit leaves alone: steps, rows, trained parameters, metrics
scratch     runs in a scratch copy, with probe, books and experiments
tried       the verdict on each edit that ran
steps       all of it, as a step of a diagnosis
"""
