"""Faults put into a training program on purpose: DeepCrime's source-level operators as patches.

operators.py: what a mutant is, all operators; pipeline.py: which of DeepCrime's they cover, and
whether a training notices a mutant.
"""
