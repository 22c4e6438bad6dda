"""Evaluate: how good generated code is, one metric a file; what nobody could judge is never a zero.

pipeline    what was asked for, gathered                    evaluation  options and result
quality     the code: lint, type hints, repeated lines      align       Align-Score on three levels
rubric      rubric trees of PaperBench and their leaves     people      the human rubric, agreement of judges
lineage     Top-1 Recall@k and Hits@N                       execution   execution rate, gap, edits
"""
