"""How cost grows: code, parameters, training time, trainings, runs in the journal, length of a
paper.
"""
