"""Repair: the smallest change that makes a training significantly better, verified on fresh seeds.

pipeline        all of it, on one page            options     what the user may ask for
prepare         from a diagnosis to a search      verdict     what judges, on which data; what came of it
search_context  trainings for a strategy          space       every hyperparameter with the values it may take
strategies      one file each                     study       the search as an Optuna study on disk
minimise        leave out what the gain does not need
alternatives    other repairs, as a graph         apply       the change in the user's own files
"""
