"""The part of reenact that goes into a watched program: standard library only, Python 3.9 and later.

It imports numpy, torch or keras only after the program has done so, and nothing that goes wrong in here may
reach the program: every entry point is guarded, and an error switches the whole probe off.
"""
