"""What Keras calls things, from version 1 to 3."""

from __future__ import annotations

from dataclasses import replace

from reenact.program.hyperparameter import Kind
from reenact.program.read.vocabulary import Family, LayerSpec, OptimizerSpec, Slot
from reenact.program.source import words
from reenact.types import JsonValue

MODEL_BASES = frozenset(
    ("keras.models.Model", "keras.models.Sequential", "keras.layers.Layer", "keras.models.Functional")
)

_INIT = Slot(Kind.WEIGHT_INIT, ("kernel_initializer", "init"), None, "glorot_uniform")
_BIAS = Slot(Kind.BIAS_INIT, ("bias_initializer",), None, "zeros")
_REGULARIZER = Slot(Kind.WEIGHT_REGULARIZER, ("kernel_regularizer", "W_regularizer"), None)
_OTHER_REGULARIZERS = tuple(
    Slot(Kind.WEIGHT_REGULARIZER, names, None, None, reported=False)
    for names in (
        ("bias_regularizer", "b_regularizer"),
        ("activity_regularizer",),
        ("recurrent_regularizer",),
    )
)
_WEIGHTS = (_INIT, _BIAS, _REGULARIZER, *_OTHER_REGULARIZERS)
_UNITS = Slot(Kind.UNITS, ("units", "output_dim"), 0)
_ACTIVATION = Slot(Kind.ACTIVATION, ("activation",), None, "linear")
_DEPTHWISE_INIT = Slot(Kind.WEIGHT_INIT, ("depthwise_initializer",), None, "glorot_uniform", reported=False)

DENSE = LayerSpec(Family.DENSE, (_UNITS, replace(_ACTIVATION, position=1), *_WEIGHTS))
CONV = LayerSpec(
    Family.CONV,
    (
        Slot(Kind.FILTERS, ("filters", "nb_filter"), 0),
        Slot(Kind.KERNEL_SIZE, ("kernel_size", "filter_length", "nb_row"), 1),
        _ACTIVATION,
        *_WEIGHTS,
    ),
)
_DEPTHWISE = LayerSpec(
    Family.CONV, (Slot(Kind.KERNEL_SIZE, ("kernel_size",), 0), _ACTIVATION, _DEPTHWISE_INIT)
)
_SEPARABLE = LayerSpec(
    Family.CONV,
    (Slot(Kind.FILTERS, ("filters",), 0), Slot(Kind.KERNEL_SIZE, ("kernel_size",), 1), _ACTIVATION, _BIAS),
)
RECURRENT = LayerSpec(
    Family.RECURRENT,
    (
        _UNITS,
        replace(_ACTIVATION, position=1, default="tanh"),
        Slot(Kind.DROPOUT, ("dropout", "dropout_W"), None, 0.0, reported=False),
        Slot(Kind.DROPOUT, ("recurrent_dropout", "dropout_U"), None, 0.0, reported=False),
        Slot(Kind.WEIGHT_INIT, ("recurrent_initializer", "inner_init"), None, "orthogonal", reported=False),
        *_WEIGHTS,
    ),
)
_DROPOUT = LayerSpec(Family.DROPOUT, (Slot(Kind.DROPOUT, ("rate", "p"), 0),))

ACTIVATIONS = frozenset(
    words(
        "relu sigmoid softmax tanh elu selu softplus softsign swish silu gelu leaky_relu relu6 mish "
        "exponential linear hard_sigmoid hard_silu hard_swish log_softmax celu glu hard_tanh tanh_shrink "
        "soft_shrink squareplus sparse_plus log_sigmoid threshold hard_shrink softmin hard_softmax"
    )
)
"""Names that Keras takes as a string or has as a function."""

ACTIVATION_LAYERS = {
    "ReLU": "relu",
    "LeakyReLU": "leaky_relu",
    "PReLU": "prelu",
    "ELU": "elu",
    "Softmax": "softmax",
    "ThresholdedReLU": "thresholded_relu",
}
LAYER_OF_ACTIVATION = {word: name for name, word in ACTIVATION_LAYERS.items()}

LAYERS: dict[str, LayerSpec] = {
    "Dense": DENSE,
    "EinsumDense": LayerSpec(Family.DENSE, (_ACTIVATION, *_WEIGHTS)),
    "TimeDistributedDense": DENSE,
    "ConvLSTM2D": CONV,
    "Embedding": LayerSpec(Family.EMBEDDING, (Slot(Kind.UNITS, ("output_dim",), 1),)),
    "Activation": LayerSpec(Family.ACTIVATION, (Slot(Kind.ACTIVATION, ("activation",), 0),)),
    "MultiHeadAttention": LayerSpec(
        Family.COMPOSITE, (Slot(Kind.DROPOUT, ("dropout",), None, 0.0, reported=False),)
    ),
    **dict.fromkeys(words("LSTM GRU SimpleRNN CuDNNLSTM CuDNNGRU"), RECURRENT),
    **dict.fromkeys(
        words("Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D AlphaDropout GaussianDropout"),
        _DROPOUT,
    ),
    **{
        name: LayerSpec(family)
        for family, names in {
            Family.NOISE: "GaussianNoise",
            Family.NORM: "BatchNormalization LayerNormalization GroupNormalization UnitNormalization "
            "RMSNormalization",
            Family.WRAPPER: "SpectralNormalization Bidirectional TimeDistributed",
            Family.SHAPE: "Flatten Reshape Permute RepeatVector Masking Lambda Rescaling Normalization "
            "Resizing ZeroPadding1D ZeroPadding2D ZeroPadding3D Cropping1D Cropping2D UpSampling1D "
            "UpSampling2D",
            Family.INPUT: "Input InputLayer",
            Family.MERGE: "Concatenate Add Multiply Average Maximum Subtract Dot Merge",
            Family.ACTIVATION: " ".join(ACTIVATION_LAYERS),
        }.items()
        for name in names.split()
    },
}
for _dimension in "123":
    for _name in (f"Conv{_dimension}D", f"Convolution{_dimension}D", f"Conv{_dimension}DTranspose"):
        LAYERS[_name] = CONV
    LAYERS[f"DepthwiseConv{_dimension}D"] = _DEPTHWISE
    LAYERS[f"SeparableConv{_dimension}D"] = _SEPARABLE
    for _pool in ("MaxPooling", "MaxPool", "AveragePooling", "AvgPool"):
        LAYERS[f"{_pool}{_dimension}D"] = LAYERS[f"Global{_pool}{_dimension}D"] = LayerSpec(Family.POOL)
LAYERS["Convolution2DTranspose"] = LAYERS["Deconvolution2D"] = CONV


_SHARED: dict[str, JsonValue] = {
    **dict.fromkeys(words("weight_decay clipnorm clipvalue global_clipnorm"), None),
    "use_ema": False,
    "ema_momentum": 0.99,
    **dict.fromkeys(words("loss_scale_factor gradient_accumulation_steps name lr decay"), None),
}
_ADAM: dict[str, JsonValue] = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}


def _optimizer(learning_rate: float = 0.001, /, **own: JsonValue) -> OptimizerSpec:
    shared = ((name, value) for name, value in _SHARED.items() if name not in own)
    return OptimizerSpec((("learning_rate", learning_rate), *own.items(), *shared))


OPTIMIZERS: dict[str, OptimizerSpec] = {
    "SGD": _optimizer(0.01, momentum=0.0, nesterov=False),
    "RMSprop": _optimizer(rho=0.9, momentum=0.0, epsilon=1e-7, centered=False),
    "Adagrad": _optimizer(initial_accumulator_value=0.1, epsilon=1e-7),
    "Adadelta": _optimizer(rho=0.95, epsilon=1e-7),
    "Adam": _optimizer(**_ADAM, amsgrad=False),
    "AdamW": _optimizer(weight_decay=0.004, **_ADAM, amsgrad=False),
    "Adamax": _optimizer(**_ADAM),
    "Nadam": _optimizer(**_ADAM),
    "Ftrl": _optimizer(learning_rate_power=-0.5),
    "Lion": _optimizer(beta_1=0.9, beta_2=0.99),
    "Lamb": _optimizer(**_ADAM),
    "Muon": _optimizer(),
}
OPTIMIZER_OF_STRING = {name.lower(): name for name in OPTIMIZERS}

LOSSES: dict[str, tuple[str, ...]] = {
    "MeanSquaredError": ("mean_squared_error", "mse", "MSE"),
    "MeanAbsoluteError": ("mean_absolute_error", "mae", "MAE"),
    "MeanAbsolutePercentageError": ("mean_absolute_percentage_error", "mape", "MAPE"),
    "MeanSquaredLogarithmicError": ("mean_squared_logarithmic_error", "msle", "MSLE"),
    "SquaredHinge": ("squared_hinge",),
    "Hinge": ("hinge",),
    "CategoricalHinge": ("categorical_hinge",),
    "LogCosh": ("log_cosh", "logcosh"),
    "Huber": ("huber", "huber_loss"),
    "CategoricalCrossentropy": ("categorical_crossentropy",),
    "SparseCategoricalCrossentropy": ("sparse_categorical_crossentropy",),
    "BinaryCrossentropy": ("binary_crossentropy",),
    "BinaryFocalCrossentropy": ("binary_focal_crossentropy",),
    "CategoricalFocalCrossentropy": ("categorical_focal_crossentropy",),
    "KLDivergence": ("kl_divergence", "kullback_leibler_divergence", "kld"),
    "Poisson": ("poisson",),
    "CosineSimilarity": ("cosine_similarity", "cosine_proximity"),
}
LOSS_CLASS_OF = {word: name for name, words in LOSSES.items() for word in (name, *words)}

SCHEDULES = frozenset(
    words(
        "ExponentialDecay PiecewiseConstantDecay PolynomialDecay InverseTimeDecay CosineDecay "
        "CosineDecayRestarts"
    )
)
SCHEDULE_CALLBACKS = frozenset(("ReduceLROnPlateau", "LearningRateScheduler"))

INITIALIZERS = words(
    "zeros ones constant random_normal random_uniform truncated_normal orthogonal lecun_uniform "
    "lecun_normal glorot_uniform glorot_normal he_uniform he_normal variance_scaling identity"
)
