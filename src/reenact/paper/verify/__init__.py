"""Verify: each criterion against the generated code; pass, fail, or cannot judge with the reason.

verify      the whole: what a program can see, formulas in the sandbox, a judge for the rest; a
            second judge
settings    every named value, with its line
mechanical  a project as a program reads it, checks and decisions held against that, verdicts that
            are
formula     a function run on sample values, in the box
"""
