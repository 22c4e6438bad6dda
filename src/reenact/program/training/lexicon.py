"""What Keras, from version 1 to 3, and PyTorch call things, as `keras.toml` and `torch.toml`
list it.
"""

from reenact.program.training.vocabulary import read_library

KERAS = read_library("keras")
KERAS_LAYERS = KERAS.layers
KERAS_OPTIMIZERS = KERAS.optimizers
KERAS_MODEL_BASES = frozenset(KERAS.named("model_bases"))
KERAS_ACTIVATIONS = frozenset(KERAS.named("activations"))
"""Names that Keras takes as a string or has as a function."""
KERAS_ACTIVATION_LAYERS = KERAS.tables["activation_layers"]
KERAS_LAYER_OF_ACTIVATION = {word: name for name, word in KERAS_ACTIVATION_LAYERS.items()}
KERAS_OPTIMIZER_OF_STRING = {name.lower(): name for name in KERAS_OPTIMIZERS}
KERAS_LOSSES = {name: tuple(text.split()) for name, text in KERAS.tables["losses"].items()}
KERAS_LOSS_CLASS_OF = {
    word: name for name, words in KERAS_LOSSES.items() for word in (name, *words)
}
KERAS_SCHEDULES = frozenset(KERAS.named("schedules"))
KERAS_SCHEDULE_CALLBACKS = frozenset(KERAS.named("schedule_callbacks"))

TORCH = read_library("torch")
TORCH_LAYERS = TORCH.layers
TORCH_OPTIMIZERS = TORCH.optimizers
TORCH_MODULE_BASES = frozenset(TORCH.named("module_bases"))
TORCH_ACTIVATION_CLASSES = TORCH.tables["activation_classes"]
"""Our word for an activation, and the module class that applies it."""
TORCH_ACTIVATION_BY_CLASS = {
    one: word for word, one in TORCH_ACTIVATION_CLASSES.items() if word != "identity"
}
TORCH_ACTIVATION_FUNCTIONS = frozenset(TORCH_ACTIVATION_CLASSES) - {
    "identity",
    "softmax2d",
    "prelu",
}
"""Words that are functions in torch.nn.functional."""
TORCH_TENSOR_FUNCTIONS = frozenset(TORCH.named("tensor_functions"))
"""Words that are also functions in `torch` itself."""
TORCH_TENSOR_METHODS = frozenset(TORCH.named("tensor_methods"))
TORCH_NEEDS_DIM = frozenset(TORCH.named("needs_dim"))
TORCH_LOSS_CLASSES = TORCH.named("loss_classes")
TORCH_LOSS_FUNCTIONS = TORCH.named("loss_functions")
TORCH_FUNCTION_OF_LOSS = dict(zip(TORCH_LOSS_CLASSES[:12], TORCH_LOSS_FUNCTIONS[:12], strict=True))
"""Those that stand for each other come first in both lists."""
TORCH_SCHEDULERS = TORCH.named("schedulers")
TORCH_INITIALIZERS = TORCH.named("initializers")
