"""Evaluate: how good generated code is, one metric a file; what nobody could judge is never a zero.

code        the code to be judged, read from a folder      align       Align-Score on three levels
rubric      rubric trees of PaperBench and their leaves     agreement   between judges
human       the human rubric (10/5/5) as a form             edits       turns, lines a turn of a recorded run
lineage     Top-1 Recall@k and Hits@N                       quality     lint, type hints, repeated lines
execute     runs of the code, execution rate, gap           evaluation  all that was found
asked       what a user may ask for                         pipeline    the one gathered from the other
"""
