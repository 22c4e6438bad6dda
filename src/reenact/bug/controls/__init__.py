"""Control runs: does the project show the bug, or does the script?

check     all of them, in the order of their cost, and what they come to
relaid    a revision that does the same with other comments, lines, docstrings and READMEs
added     the buggy revision with the names that only the fix adds
compare   what two revisions were given and answered, side by side
routes    what a script chooses after the first different answer
"""
