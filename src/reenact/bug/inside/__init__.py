"""What goes into the box with a script.

watch.py runs it and writes down what happened; judge.py looks at frames and values, and also stands in every
repro.py. Both need nothing but Python.
"""
