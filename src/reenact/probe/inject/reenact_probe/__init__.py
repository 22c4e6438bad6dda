"""The part of reenact that goes into a watched program: standard library only, Python 3.9 and
later.

It imports numpy, torch or keras only after the program has done so, and nothing that goes wrong in
here may reach the program: every entry point is guarded, and an error switches the whole probe off.

boot        starts: options, seeds, and what to do once the program imports torch, keras, ...   (config, late)
guard       patches what the program calls, puts it back, and keeps our errors from the program
torch/      observer: forward passes, batches, loaders, steps, model -> rows; window: one sampled step
keras/      observer: fit, callbacks, losses; on_torch: layers and steps, with the torch observer
recorder    what was seen until it is written: tables, metrics, events, header   (schedule, folder)
data        facts of inputs and labels; metrics: what is printed or logged; places: where things are made
ending      how the process ends; crash, failed_call: the exception and its call; exits: tracebacks, sys.exit
seeds       the given seed; importing: what the import system lists
experiment/ takes over before the first step: one batch again and again, a range of learning rates
oldkeras/   runs programs of Keras 1, Keras 2 and tf.keras on Keras 3

An observer owns its parts. A part informs its owner what happened through a small protocol next to it
(as `StepListener`), and the owner stores it: no part writes into another.
"""
