"""Fingerprint: the paper as atomic facts that code must show, each grounded in the paper's own
words.

pipeline     the whole: guides, every paragraph for what they missed, compound facts split, one of
             each
fingerprint  what a model may propose, and what of it is kept: no results, claims or orders
expression   formulas that a model writes down, read by us
similar      which items are the same fact
vocabulary   other names of parameters, optimisers, schedules, losses, layers: vocabulary.toml
"""
