"""What the text of a program says.

sources                      all files together
ends, trail, members, follow where a value comes from: one object owns the recursion
values                       the value in force, what a call makes
vocabulary, lexicon, *.toml  names of PyTorch and Keras
positions, layers, flow, model, supervision      layers, their order, widths and outputs
analysis, *_training, data, loops, layer_hyperparameters, alternatives      drafts of hyperparameters
reading                      everything together: read(program)
"""
