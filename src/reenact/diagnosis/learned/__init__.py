"""The learned detector: DeepFD's idea over our traces.

bases/ small healthy programs; plan.py which mutants of them are trained; gather.py trainings to labelled
rows; features.py and its parts what a row says; fit.py, scores.py, publish.py from rows to the shipped model;
forest.py reads that model without scikit-learn; opinion.py what it says of a program.
"""
