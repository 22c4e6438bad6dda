"""Faults put into a training program on purpose: DeepCrime's source-level operators as patches of
hyperparameters.

mutant.py what a mutant is; rates.py, exchanges.py, activations.py, weights.py, layers.py, data.py the
operators; catalogue.py all of them, and which of DeepCrime's they cover; kill.py whether a training notices.
"""
