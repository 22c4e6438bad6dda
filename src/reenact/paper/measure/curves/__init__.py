"""Curves of a training, as far as a run tells them: for the eye of a reader, never a measure.

curve   what a curve is, and points gathered into curves
read    log files that the code names and printed lines, in whatever style -> curves
course  the same curve of all seeds
"""
