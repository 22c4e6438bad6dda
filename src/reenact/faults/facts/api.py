"""Names that PyTorch and Keras have for what several detectors ask about."""

SIZES = ("1d", "2d", "3d")
BATCH_NORMS = frozenset(
    (
        "BatchNorm",
        "BatchNormalization",
        "SyncBatchNorm",
        *(f"{lazy}BatchNorm{size}" for lazy in ("", "Lazy") for size in SIZES),
    )
)
"""Classes of PyTorch and Keras."""
POOLS = frozenset(
    (
        *(
            f"{form}{kind}Pool{size}"
            for form in ("", "Adaptive")
            for kind in ("Max", "Avg")
            for size in SIZES
        ),
        *(
            f"{form}{kind}_pool{size}"
            for form in ("", "adaptive_")
            for kind in ("max", "avg")
            for size in SIZES
        ),
        *(
            f"{form}{kind}Pooling{number}D"
            for form in ("", "Global")
            for kind in ("Max", "Average")
            for number in (1, 2, 3)
        ),
        "max_pool",
        "average_pool",
    )
)
DROPOUTS = frozenset(
    (
        "dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
    )
)
"""Of `torch.nn.functional`."""
WEIGHTED_FUNCTIONS = frozenset(
    (
        "linear",
        "bilinear",
        "embedding",
        "embedding_bag",
        *(f"conv{size}" for size in SIZES),
        *(f"conv_transpose{size}" for size in SIZES),
    )
)
"""Of `torch.nn.functional`, and given weights."""
