"""Evaluate: how good generated code is, one metric a file; what no one could judge is never a zero.

evaluation  options, what was asked for, gathered           align       Align-Score on three levels
quality     the code: lint, type hints, repeated lines      rubric      rubric trees of PaperBench
people      the human rubric, agreement of judges           scores      execution, gap, edits, lineage
"""
