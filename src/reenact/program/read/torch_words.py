"""What PyTorch calls things: layers, activations, losses, optimisers, schedulers, initialisers."""

from __future__ import annotations

from reenact.program.hyperparameter import Kind
from reenact.program.read.vocabulary import Family, LayerSpec, OptimizerSpec, Slot
from reenact.program.source import words
from reenact.types import JsonValue

MODULE_BASES = frozenset(
    ("torch.nn.Module", "lightning.LightningModule", "torch.nn.Sequential", "transformers.PreTrainedModel")
)


def _conv() -> LayerSpec:
    return LayerSpec(
        Family.CONV,
        (Slot(Kind.FILTERS, ("out_channels",), 1), Slot(Kind.KERNEL_SIZE, ("kernel_size",), 2)),
        Slot(Kind.FILTERS, ("in_channels",), 0),
    )


def _recurrent(*extra: Slot) -> LayerSpec:
    return LayerSpec(
        Family.RECURRENT,
        (
            Slot(Kind.UNITS, ("hidden_size",), 1),
            Slot(Kind.DROPOUT, ("dropout",), None, 0.0, reported=False),
            *extra,
        ),
        Slot(Kind.UNITS, ("input_size",), 0),
    )


def _norm(name: str = "num_features", position: int = 0) -> LayerSpec:
    return LayerSpec(Family.NORM, (), Slot(Kind.UNITS, (name,), position))


_DROPOUT = LayerSpec(Family.DROPOUT, (Slot(Kind.DROPOUT, ("p",), 0, 0.5),))
_TRANSFORMER = LayerSpec(
    Family.COMPOSITE,
    (
        Slot(Kind.UNITS, ("dim_feedforward",), 2, 2048, reported=False),
        Slot(Kind.DROPOUT, ("dropout",), 3, 0.1),
        Slot(Kind.ACTIVATION, ("activation",), 4, "relu", reported=False),
    ),
)
_LINEAR = LayerSpec(
    Family.DENSE, (Slot(Kind.UNITS, ("out_features",), 1),), Slot(Kind.UNITS, ("in_features",), 0)
)
_EMBEDDING = LayerSpec(Family.EMBEDDING, (Slot(Kind.UNITS, ("embedding_dim",), 1),))

ACTIVATION_CLASSES = {
    "log_softmax": "LogSoftmax",
    "leaky_relu": "LeakyReLU",
    **{
        name.lower(): name
        for name in words(
            "ReLU Tanh Sigmoid Softmax ELU SELU GELU SiLU Mish Softplus Softsign Hardsigmoid Hardtanh "
            "Hardswish ReLU6 CELU PReLU RReLU LogSigmoid Tanhshrink Softshrink Hardshrink Threshold GLU "
            "Softmin Softmax2d Identity"
        )
    },
}
"""Our word for an activation, and the module class that applies it."""

ACTIVATION_BY_CLASS = {name: word for word, name in ACTIVATION_CLASSES.items() if word != "identity"}

ACTIVATION_FUNCTIONS = frozenset(ACTIVATION_CLASSES) - {"identity", "softmax2d", "prelu"}
"""Words that are functions in torch.nn.functional."""

TENSOR_FUNCTIONS = frozenset(words("relu tanh sigmoid softmax log_softmax selu celu rrelu"))
"""Words that are also functions in `torch` itself."""

TENSOR_METHODS = frozenset(words("relu tanh sigmoid softmax log_softmax relu_ tanh_ sigmoid_"))

NEEDS_DIM = frozenset(("softmax", "log_softmax", "softmin"))

LAYERS: dict[str, LayerSpec] = {
    "Linear": _LINEAR,
    "LazyLinear": LayerSpec(Family.DENSE, (Slot(Kind.UNITS, ("out_features",), 0),)),
    "Bilinear": LayerSpec(Family.DENSE, (Slot(Kind.UNITS, ("out_features",), 2),)),
    **dict.fromkeys(words("LSTM GRU LSTMCell GRUCell"), _recurrent()),
    **dict.fromkeys(
        ("RNN", "RNNCell"), _recurrent(Slot(Kind.ACTIVATION, ("nonlinearity",), 3, "tanh", reported=False))
    ),
    **dict.fromkeys(("Embedding", "EmbeddingBag"), _EMBEDDING),
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer"), _TRANSFORMER),
    "MultiheadAttention": LayerSpec(
        Family.COMPOSITE, (Slot(Kind.DROPOUT, ("dropout",), 2, 0.0, reported=False),)
    ),
    **dict.fromkeys(("TransformerEncoder", "TransformerDecoder"), LayerSpec(Family.WRAPPER)),
    "Transformer": LayerSpec(Family.COMPOSITE, (Slot(Kind.DROPOUT, ("dropout",), 5, 0.1),)),
    "LayerNorm": _norm("normalized_shape"),
    "RMSNorm": _norm("normalized_shape"),
    "GroupNorm": _norm("num_channels", 1),
    "LocalResponseNorm": LayerSpec(Family.NORM),
    **dict.fromkeys(words("Flatten Unflatten Identity Upsample PixelShuffle"), LayerSpec(Family.SHAPE)),
    **dict.fromkeys(words("Dropout AlphaDropout FeatureAlphaDropout"), _DROPOUT),
    **dict.fromkeys(ACTIVATION_BY_CLASS, LayerSpec(Family.ACTIVATION)),
}
for _dimension in "123":
    LAYERS[f"Conv{_dimension}d"] = _conv()
    LAYERS[f"ConvTranspose{_dimension}d"] = _conv()
    LAYERS[f"LazyConv{_dimension}d"] = LayerSpec(
        Family.CONV, (Slot(Kind.FILTERS, ("out_channels",), 0), Slot(Kind.KERNEL_SIZE, ("kernel_size",), 1))
    )
    LAYERS[f"BatchNorm{_dimension}d"] = _norm()
    LAYERS[f"InstanceNorm{_dimension}d"] = _norm()
    LAYERS[f"LazyBatchNorm{_dimension}d"] = LayerSpec(Family.NORM)
    LAYERS[f"Dropout{_dimension}d"] = _DROPOUT
    for _pool in ("MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "LPPool", "FractionalMaxPool"):
        LAYERS[f"{_pool}{_dimension}d"] = LayerSpec(Family.POOL)

LOSS_CLASSES = words(
    "MSELoss L1Loss SmoothL1Loss HuberLoss CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss "
    "KLDivLoss PoissonNLLLoss GaussianNLLLoss MultiMarginLoss HingeEmbeddingLoss MultiLabelMarginLoss "
    "SoftMarginLoss MultiLabelSoftMarginLoss CosineEmbeddingLoss MarginRankingLoss TripletMarginLoss "
    "CTCLoss TripletMarginWithDistanceLoss AdaptiveLogSoftmaxWithLoss"
)
LOSS_FUNCTIONS = words(
    "mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits kl_div poisson_nll_loss gaussian_nll_loss multi_margin_loss "
    "hinge_embedding_loss multilabel_margin_loss soft_margin_loss multilabel_soft_margin_loss "
    "cosine_embedding_loss margin_ranking_loss triplet_margin_loss ctc_loss"
)
FUNCTION_OF_LOSS = dict(zip(LOSS_CLASSES[:12], LOSS_FUNCTIONS[:12], strict=True))
"""Those that stand for each other come first in both lists."""


def _optimizer(**arguments: JsonValue) -> OptimizerSpec:
    return OptimizerSpec((("params", None), *arguments.items()))


_BETAS: dict[str, JsonValue] = {"betas": [0.9, 0.999], "eps": 1e-8}


OPTIMIZERS: dict[str, OptimizerSpec] = {
    "SGD": _optimizer(lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False),
    "Adam": _optimizer(lr=1e-3, **_BETAS, weight_decay=0.0, amsgrad=False),
    "AdamW": _optimizer(lr=1e-3, **_BETAS, weight_decay=0.01, amsgrad=False),
    "RMSprop": _optimizer(lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False),
    "Adagrad": _optimizer(lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10),
    "Adadelta": _optimizer(lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0),
    "Adamax": _optimizer(lr=2e-3, **_BETAS, weight_decay=0.0),
    "NAdam": _optimizer(lr=2e-3, **_BETAS, weight_decay=0.0, momentum_decay=4e-3),
    "RAdam": _optimizer(lr=1e-3, **_BETAS, weight_decay=0.0),
    "ASGD": _optimizer(lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0),
    "Rprop": _optimizer(lr=1e-2, etas=[0.5, 1.2], step_sizes=[1e-6, 50]),
    "LBFGS": _optimizer(lr=1.0, max_iter=20, max_eval=None),
    "SparseAdam": _optimizer(lr=1e-3, **_BETAS),
    "Adafactor": _optimizer(lr=1e-2, beta2_decay=-0.8, eps=None, d=1.0, weight_decay=0.0),
    "Muon": _optimizer(lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True),
}

SCHEDULERS = words(
    "StepLR MultiStepLR ExponentialLR CosineAnnealingLR ReduceLROnPlateau LambdaLR MultiplicativeLR "
    "OneCycleLR CyclicLR CosineAnnealingWarmRestarts LinearLR PolynomialLR ConstantLR "
    "ChainedScheduler SequentialLR"
)

INITIALIZERS = words(
    "uniform_ normal_ constant_ ones_ zeros_ eye_ dirac_ xavier_uniform_ xavier_normal_ "
    "kaiming_uniform_ kaiming_normal_ trunc_normal_ orthogonal_ sparse_"
)
