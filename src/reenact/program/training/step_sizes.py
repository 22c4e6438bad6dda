"""Optimizers whose learning rate is not the size of a step."""

_FINDS_ITS_STEP = frozenset(
    (
        "adafactor",
        "adamwschedulefree",
        "cdowg",
        "cocob",
        "cocobbackprop",
        "dadaptadagrad",
        "dadaptadam",
        "dadaptadan",
        "dadaptlion",
        "dadaptsgd",
        "dowg",
        "ldowg",
        "lbfgs",
        "mechanize",
        "prodigy",
        "radamschedulefree",
        "rprop",
        "sgdschedulefree",
    )
)
"""Optimizers that search along a line, go by signs alone, or measure how far they have to go."""


def finds_its_step(optimizer: str) -> bool:
    """Whether an optimizer decides itself how far it goes."""
    return optimizer.rpartition(".")[2].lower() in _FINDS_ITS_STEP
