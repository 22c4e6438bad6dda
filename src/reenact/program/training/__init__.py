"""What a program trains and how: layers, losses, loops, data, and each hyperparameter with the place where
it can be turned. It asks flow for values and calls, and changes nothing.

vocabulary, lexicon, *.toml   shapes of what a library takes; the names of Keras and PyTorch
positions, layers             where a layer is; layers and activations as the text makes them
forward, model                a tensor followed through forward code; models, and widths that hang together
supervision                   outputs, loss and labels together
analysis                      ProgramAnalysis: what every reader has at hand; drafts of hyperparameters
loops                         where gradients are made and used, epochs, batches
purpose, branches             whether a loader, a loop or a loss trains or evaluates, by what is done with it
roles           what is stepped, what a loss compares, where no gradients are kept
loss_families, divergence   what a loss compares and wants of the output; KL terms that are written by hand
rows            order, splits, windows and padding of the rows, a package of its own
loss_terms, value_targets   terms with the wrong sign; targets without the end of an episode
averages, averaged_models   averages of weights: their decay; what is done with those of `AveragedModel`
counted_hits, lookups   hits that a loop counts; indices that are cut before they are looked up
kept_graphs, axes   losses that are kept with their graph; axes that `view` is asked to swap
made            from where something shows to where it is made: a loss, a mask, a module
cut_off         where gradients are kept from weights
step_sizes      optimizers whose learning rate is not the size of a step
written         where a value of the optimizer is written when no line hands it over by name
keras_training, torch_training, data, habits, by_hand, layer_hyperparameters    the readers, one subject each
framework, static_layer       the library whose training it is; one layer as the text says it
alternatives                  values worth trying for a hyperparameter
reading                       everything together: `read(program)`
"""
