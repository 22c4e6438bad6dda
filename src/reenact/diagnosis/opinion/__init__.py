"""A language model's opinion on a program: answer.py asks for it, check.py believes only what can be checked,
hear.py asks several times and takes agreement for confidence."""
