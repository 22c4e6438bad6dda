"""Changes of a program's text, each an edit of one place: the rest stays as it is written. It takes what
training has read, and gives a program whose text differs and nothing more.

change                     Set, Insert, Remove, Replace: what can be asked for
source_editor, segments    collect edits; brackets, statements and imports
values, missing, lists, layers, activations, losses, optimizers      one sort of change each
carry_out                              all changes of a patch together
"""
