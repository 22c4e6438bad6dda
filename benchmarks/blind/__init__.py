"""Whether what is reported of a program depends on how it is written: words, order, helpers, imports.

rewrites/    programs rewritten without changing what they do, line by line traceable
cases.py     the programs: of examples, and opened ones of benchmarks/trainings
warm/        interpreters that have imported torch, Keras or reenact; each program runs in a fork
transcript.py  what a program prints and differentiates
verdict.py   what a diagnosis shows, by inside.py, which runs next to the program
compare.py   one program and its rewrites: diagnosed, the transcripts of the watched runs compared
card.py      figures, goals and tables; command.py: the command
"""
