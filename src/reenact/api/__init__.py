"""The Python API: what the command line, MCP, the page, notebooks and pytest call, and you can too.

    import reenact

    report = reenact.diagnose("train.py")          # what is wrong, at which layer and line
    fix = reenact.repair("train.py", budget="20x")  # the smallest change that helps, as a diff
    bug = reenact.reproduce_bug("report.md", repo=".", model="anthropic:NAME")
    rep = reenact.reproduce_paper("paper.pdf", model="anthropic:NAME")

Every function takes what its command takes, as typed keyword arguments, and returns one frozen result:
`to_dict()` gives the `data` that `--output-format json` prints, a notebook draws it, `exit_code` is that
of the command. Errors are `reenact.ReenactError`: a sentence and a next step. Nothing is printed unless
`progress=True` (or a function that takes `reenact.Progress`) or `output=` asks for it. `cancel=` is a
`threading.Event`: set it, and the call ends at the next safe place with `reenact.Stopped`; so does Ctrl-C
or a notebook's stop button. The same call then continues.

training    diagnose, apply_fix, repair, apply_repair bugs      reproduce_bug, judge_bug
linting     lint                                      papers    reproduce_paper, fingerprint, evaluate
reference   hyperparameters, list_rules, explain, load_run
session     what a call works with: settings, journal, stop, progress, model, sandbox
"""
