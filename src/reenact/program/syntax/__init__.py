"""Texts of a program unchanged: files, notebooks, syntax trees, scopes. Of each name it says who binds
it, never what it is worth. Of program/ it imports nothing but itself.

source      one file: bytes to text, spans and lines of it, `parse(text) -> ast.Module`
datafile    JSON and YAML that a program reads: each value with its place; configurations of hydra
notebook    the code cells of a notebook as one script, and the way back
calls       the arguments of a call as written, its method and what that is called on
targets     how a statement binds names, and what each one takes
scope       FileIndex: a file, its scopes and their bindings; the scope of a node
index       `index_of(SourceFile)`: a FileIndex in one pass, or why there is none
pieces      what a piece of a file holds, what is called in it and with what, where it is
lines       where something stands in the files of a program
excerpt     a piece of a program for messages; whether two pieces read the same
launcher    from a command line to the entry and all files that it leads to
"""
