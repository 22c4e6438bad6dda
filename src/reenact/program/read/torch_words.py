"""What PyTorch calls things, as `torch.toml` lists it."""

from reenact.program.read.vocabulary import read_library

_TORCH = read_library("torch")
LAYERS, OPTIMIZERS = _TORCH.layers, _TORCH.optimizers
MODULE_BASES = frozenset(_TORCH.words("module_bases"))
ACTIVATION_CLASSES = _TORCH.tables["activation_classes"]
"""Our word for an activation, and the module class that applies it."""
ACTIVATION_BY_CLASS = {name: word for word, name in ACTIVATION_CLASSES.items() if word != "identity"}
ACTIVATION_FUNCTIONS = frozenset(ACTIVATION_CLASSES) - {"identity", "softmax2d", "prelu"}
"""Words that are functions in torch.nn.functional."""
TENSOR_FUNCTIONS = frozenset(_TORCH.words("tensor_functions"))
"""Words that are also functions in `torch` itself."""
TENSOR_METHODS = frozenset(_TORCH.words("tensor_methods"))
NEEDS_DIM = frozenset(_TORCH.words("needs_dim"))
LOSS_CLASSES, LOSS_FUNCTIONS = _TORCH.words("loss_classes"), _TORCH.words("loss_functions")
FUNCTION_OF_LOSS = dict(zip(LOSS_CLASSES[:12], LOSS_FUNCTIONS[:12], strict=True))
"""Those that stand for each other come first in both lists."""
SCHEDULERS = _TORCH.words("schedulers")
INITIALIZERS = _TORCH.words("initializers")
