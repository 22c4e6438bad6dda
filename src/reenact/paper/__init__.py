"""Paper: what a paper states becomes code that runs, is verified criterion by criterion, and
measured.

pipeline     the whole, top to bottom                  reproduction  what came of it
options      what the user may ask for                 context       what all steps of one paper work with
criterion    one atom of the fingerprint, its verdict
bearing      the part of a paper that travels          estimate      what it will cost, before it is asked
grounding    ids of a paper, quotes found in it        quantity      numbers as papers and programs write them
review       three summaries and the claims            lineage       which cited papers matter, and their code
fingerprint  the criteria                              develop       code written, run, fixed, until it holds
verify       criteria against code                     measure       full runs, claims against measured
evaluate     scores of the study, rubric trees
"""
