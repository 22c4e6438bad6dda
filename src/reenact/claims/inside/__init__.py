"""What goes into the box with a script, and needs nothing but Python.

relations.py says whether a relation holds between two values, genuine.py which classes lie about
themselves.
"""
