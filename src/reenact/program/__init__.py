"""A training program as data: source <-> hyperparameters, patches, model graph. Nothing is run.

program         Program: files, entry point, command line; read_program, program_from_text
hyperparameter  Hyperparameter: one setting in the source, its place, value and alternatives
static_graph    hyperparameters_of(program), static_graph(program): layers, framework
graph           ModelGraph: the model as it stood when training began (the probe writes it)
change, patch   Set, Insert, Remove, Replace; Patch: apply, diff
fault           the types of faults
launcher, source, notebook, datafile    from a command line to text, syntax trees and values
read, edit      what the text says; changes of it

The static reader of Python, for any text and without a program around it:

    source.parse(text) -> ast.Module                 raises Unparsable
    read.index.index_of(SourceFile(path, text))      FileIndex, or why there is none: calls, functions, loops,
                                                     imports, stores, the scope and parent of every node
    read.sources.Sources(program_from_text(text))    what a name means across files: `dotted`, `owner`
    read.analysis.ProgramAnalysis(program)           values in force: `values.find`; calls: `callees.of`
"""
