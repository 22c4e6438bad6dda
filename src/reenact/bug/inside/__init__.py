"""What goes into the box with a script.

watch.py runs it and writes down what happened; judge.py looks at frames. reads.py notices files of
the repository that the script opens, hands.py what the script hands over, calls.py (with digest.py)
what goes into the project and comes back. What looks at values is that of `claims/inside`. All of
them need nothing but Python.
"""
