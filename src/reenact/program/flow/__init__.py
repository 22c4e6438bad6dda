"""How values get from where they are written to where they are used, across all files of a program:
definitions and uses, values in force, what a call reaches, what ran before. It asks syntax, names what a
library gives by its short public name, and knows nothing of layers, losses or loops.

library_names   `keras.layers.Dense` for every name that Keras, PyTorch and their kin have for it
sources         all files together: modules by name, who calls whom, what a name means
ends            where a trail ends: the expression or data entry to edit; options of the command line
trail           one object owns the recursion: what is followed, through which calls, how far
members         the steps into other values: entries, attributes, fields, data files
constants       the literal that an expression is, or that its variable stands for
library_uses    whether a name of the framework is called, handed on or given as a word
signs           with which sign a value goes into what is lowered
holders         the model, list or dict that a weight is one of
uses            one file alone, by spelling: what a variable is given, what a value is made of and goes into
follow          the steps through names, calls and expressions
values          the value in force of an argument; the library class that a call makes
"""
