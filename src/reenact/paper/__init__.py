"""Paper: what a paper says becomes code that runs, is verified criterion by criterion, and measured.

options      what the user may ask for                 context      what all steps of one paper work with
claim        a number that the paper states, and where it states it
criterion    one atom of the fingerprint, and what was found of it in the code
exemplar     a cited paper with the code that belongs to it
places       ids of a paper, in order                  quantity     numbers as papers and programs write them
ask_with_retry  a question put again, with what was wrong
review       three summaries and the claims            lineage      which cited papers matter, and their code
fingerprint  the criteria                              develop      code written, run, fixed, until it holds
verify       criteria against code                     measure      full runs, claims against measured
evaluate     scores of the study, rubric trees         write        the report
"""
