"""Learning curves of changed programs, kept whole, and the rule for hopeless trainings,
replayed on them.
"""
