"""What Keras calls things, from version 1 to 3, as `keras.toml` lists it."""

from reenact.program.read.vocabulary import read_library

_KERAS = read_library("keras")
LAYERS, OPTIMIZERS = _KERAS.layers, _KERAS.optimizers
MODEL_BASES = frozenset(_KERAS.words("model_bases"))
ACTIVATIONS = frozenset(_KERAS.words("activations"))
"""Names that Keras takes as a string or has as a function."""
ACTIVATION_LAYERS = _KERAS.tables["activation_layers"]
LAYER_OF_ACTIVATION = {word: name for name, word in ACTIVATION_LAYERS.items()}
OPTIMIZER_OF_STRING = {name.lower(): name for name in OPTIMIZERS}
LOSSES = {name: tuple(text.split()) for name, text in _KERAS.tables["losses"].items()}
LOSS_CLASS_OF = {word: name for name, words in LOSSES.items() for word in (name, *words)}
SCHEDULES = frozenset(_KERAS.words("schedules"))
SCHEDULE_CALLBACKS = frozenset(_KERAS.words("schedule_callbacks"))
