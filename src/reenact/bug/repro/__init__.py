"""What a maintainer gets: the plain script, a test, the facts to judge by, and a reply.

script     repro.py: imports, a few lines, and an assert or the raising call
closing    the assert of a silent bug
as_test    test_issue_N.py: the same as a test in the project's own style
facts      repro.json: symptom, what was seen, forms, seeds
judged     `reenact judge repro.py`: shows, does not show, cannot be run, on a checkout
proof      each file run as a maintainer runs it, on every revision that there is
requirements  requirements.txt proven in a fresh environment
hand_over  all of it together
reply      words to the reporter where nothing was shown
"""
