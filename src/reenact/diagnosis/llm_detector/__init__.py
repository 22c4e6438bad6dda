"""A language model as a detector: question.py asks it, check.py keeps only what can be checked, findings.py
asks several times and takes agreement for confidence."""
