"""Fingerprint: the paper as atomic facts that code must show, each grounded in the paper's own words.

take         the whole: guides, scan, grounding, atoms, one of each, numbered
fingerprint  what comes out: criteria, and what was dropped with its reason
questions    framework and configuration level, every paragraph for what was missed, compound facts split
proposals    what a model may propose, and what of it is kept: no results, claims or orders
ground       a quote found in the paper, or not
expression   formulas that a model writes down, read by us
similar      which items say the same
vocabulary   other names of parameters, optimisers, schedules, losses, layers: vocabulary.toml
"""
