"""Rewrites of a training program that change nothing of what it does.

rewrites   each one file: names.py, comments.py, order.py, helpers.py, literals.py, imports.py
with       text.py (lines that know the lines of the original), scopes.py (what a name means),
           substitute.py (other words at a place), own.py (what the program itself defines)
all        every.py: each by its name, and all at once
"""
