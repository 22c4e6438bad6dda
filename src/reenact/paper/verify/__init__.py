"""Verify: each criterion against the generated code; pass, fail, or cannot judge with the reason.

verify       the whole: what a program can see, formulas in the sandbox, a judge for the rest
score        weighted passes and fails, what could not be judged apart
reading      a project as a program sees it: settings, knobs in force, calls
settings     every named value, with its line               read_python  those of Python
mechanical   a check against a reading                      finding      what that came to
formula      a function run on sample values                samples      where those come from
judge        a model reads the code, a dozen criteria a time
lines        which lines are code, and exist                inside/      what runs in the box
"""
