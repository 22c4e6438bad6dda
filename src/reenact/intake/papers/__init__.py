"""A paper in any form -> Paper: numbered sentences, equations, tables, figures, algorithms, references.

paper        the nouns, and what can be asked of a paper: a sentence by id, a quote, its text without results
"""
