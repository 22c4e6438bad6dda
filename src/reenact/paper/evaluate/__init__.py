"""Evaluate: how good generated code is, one metric a file; what nobody could judge is never a zero.

code        the code to be judged, read from a folder      align       Align-Score on three levels
rubric      rubric trees of PaperBench: read, prune, mean   leaves      their leaves, judged in batches
human       the human rubric (10/5/5) as a form             agreement   between judges
lineage     Top-1 Recall@k and Hits@N                       edits       turns, lines a turn
history     the edits of a recorded run                     quality     lint, type hints, repeated lines
execute     runs of the code, in the sandbox                executed    execution rate, performance gap
asked       what a user may ask for                         evaluation  all that was found
story       the one gathered from the other
"""
