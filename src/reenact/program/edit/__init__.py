"""Changes of a program's text, each an edit of one place: the rest stays as it is written.

source_editor, segments    collect edits; brackets, statements and imports
values, missing, lists, layers, activations, losses, optimizers      one sort of change each
carry_out                              all changes of a patch together
"""
