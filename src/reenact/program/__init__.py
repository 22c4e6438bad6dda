"""A training program as data: source <-> hyperparameters, patches, model graph. Nothing is run.

program         Program: files, entry point, command line; read_program, program_from_text
hyperparameter  Hyperparameter: one setting in the source, its place, value and alternatives
static_graph    hyperparameters_of(program), static_graph(program): layers, framework
layer_view      LayerView: one layer, from the live model or from the text alone
label_facts     labels of a data set as a loss takes them
graph           ModelGraph: the model as it stood when training began (the probe writes it)
patch           Patch: several changes together; apply, diff

The text is read in three layers, each of which imports only those before it:

syntax          files, notebooks, scopes: what is where, who binds a name
flow            definitions and uses, values in force, calls, what ran before: across all files
training        layers, losses, loops, data: drafts of hyperparameters, `reading.read(program)`
edit            changes of the text, on top of all three

The static reader of Python, for any text and without a program around it:

    syntax.source.parse(text) -> ast.Module               raises Unparsable
    syntax.index.index_of(SourceFile(path, text))         FileIndex, or why there is none: calls, functions,
                                                          loops, imports, stores, scope and parent of a node
    flow.sources.Sources(program_from_text(text))         what a name means across files: `dotted`, `owner`
    training.analysis.ProgramAnalysis(program)            values in force: `values.find`; calls: `callees.of`
"""
