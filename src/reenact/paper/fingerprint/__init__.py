"""Fingerprint: the paper as atomic facts that code must show, each grounded in the paper's own words.

take         the whole: guides, scan, grounding, atoms, one of each, numbered
fingerprint  what comes out: criteria, and what was dropped with its reason
answers      what a model may propose
guides       framework level and configuration level
scan         every paragraph, for what was missed
sift         proposed facts into grounded items
ground       a quote found in the paper, or not
keep         results, claims and orders are no criteria
checks       what a program can check by itself
expression   formulas that a model writes down, read by us
atoms        compound facts taken apart; equations and algorithms stay whole
similar      which items say the same
vocabulary   other names of parameters, optimisers, schedules, losses, layers: vocabulary.toml
"""
