"""Curves of a training, as far as a run tells them: for the eye of a reader, never a measure.

curve    what a curve is, and points gathered into curves
printed  lines such as `epoch 3 of 10, loss 0.2`, in whatever style
tables   rows and histories: CSV, JSON, a JSON object a line
logs     which log files the code of a project names
read     everything that a run told -> curves
course   the same curve of all seeds
"""
