"""Faults put into a training program on purpose: DeepCrime's source-level operators as patches.

mutant.py: what a mutant is; operators.py: all operators; pipeline.py: which of DeepCrime's they cover, and
whether a training notices a mutant.
"""
