"""A language model as a detector: opinion.py asks it and keeps only what can be checked, findings.py asks
several times and takes agreement for confidence."""
