"""`python -m benchmarks papers`: papers with known numbers, reproduced and compared with the truth.

cases       one folder a case: paper, library, facts, criteria by hand, reference
matching    a fingerprint against the list made by hand, mechanically
variant     the whole method, parts left out, one shot
runner      who answers, and with what
case_run    one case with one variant               case_result  what came of it
measure     all of them, journalled
goals       what is wanted of all of it           card     tables, variants side by side
twins       papers with other numbers printed, most of them false, from the recordings of the cases
facts       ReproduceBench and what others published
"""
