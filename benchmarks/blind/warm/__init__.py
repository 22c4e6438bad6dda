"""Interpreters that have imported what programs need: each program runs in a fresh fork of one.

interpreter.py  starts them, one a set of modules, and makes a `python` that hands its program over
starter.py      that `python`
server.py       the interpreter that has imported; forks
steady.py       what a fork does before its program: seeds, a clock that counts, a transcript
"""
