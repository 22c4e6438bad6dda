"""What goes into the box with a script.

watch.py runs it and writes down what happened; judge.py looks at frames and values, and also stands in every
repro.py; stub.py stands in for modules that the user gave up. All need nothing but Python.
"""
