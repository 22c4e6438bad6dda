"""What goes into the box with a script.

watch.py runs it and writes down what happened; judge.py looks at frames and values, and also is in
every repro.py. reads.py notices files of the repository that the script opens, genuine.py classes
that lie about themselves, hands.py what the script hands over, calls.py (with digest.py) what goes
into the project and comes back. All of them need nothing but Python.
"""
