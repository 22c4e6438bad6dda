"""`python -m benchmarks papers`: papers with known numbers, reproduced and compared with the truth.

cases       one folder a case: paper, library, facts, criteria by hand, reference
matching    a fingerprint against the list made by hand, mechanically
way         the whole method, parts left out, one shot
desk        who answers, and with what           told     what came of one case
tell        one case told one way                measure  all of them, journalled
goals       what is wanted of all of it           card     tables, ways side by side
facts       ReproduceBench and what others published
"""
