"""The learned detector made from nothing: base programs, mutants, trainings, scores, the
published forest.
"""
