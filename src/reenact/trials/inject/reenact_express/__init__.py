"""A recognised Keras `fit` as a bare torch loop, inside a trial's process: the same data order, initial
weights, update rule and metrics, without Keras between one operation and the next.

refused     what is raised when something is not recognised; the real `fit` runs instead
recognise   a compiled Keras model -> a plan: operations, regularisers, loss (plain data); layers: its layers
operations  the operations of a plan as functions of tensors; recurrent: those that loop over time;
            activations
losses      losses as functions of tensors
flat        parameters and optimiser slots as one vector each, shared with the Keras variables
updates     the update rules of Keras's optimisers on such vectors
data        arrays as tensors, and the order in which Keras would have taken them
by_hand     chains of dense layers without automatic differentiation
training    the loop, its metrics and callbacks; stepping: one step, one evaluation
logs        the numbers of an epoch, by Keras's metrics or as they would say
told        what the probe and whoever asked for the trial hear of it
parking     a recognised training set aside, to be trained with others; and played back
ensemble    many of them trained at once
install     stands in the place of `fit` and `evaluate`, and tells what became of it
"""
