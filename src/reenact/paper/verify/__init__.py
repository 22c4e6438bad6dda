"""Verify: each criterion against the generated code; pass, fail, or cannot judge with the reason.

verify      the whole: what a program can see, formulas in the sandbox, a judge for the rest
settings    every named value, with its line
reading     a project as a program sees it: settings, hyperparameters in force, calls
mechanical  a check against a reading
finding     what that came to; which lines are code, and exist
formula     a function run on sample values, and where those come from     inside/  what runs in the box
judge       a model reads the code, a dozen criteria a time
"""
