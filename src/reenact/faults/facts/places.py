"""Where findings point when a kind of hyperparameter does not tell: scaling, modes; and usual values."""

from collections.abc import Sequence

from reenact.faults import Evidence, Finding, Hyperparameter, JsonValue, Kind, suggest

Values = Sequence[JsonValue]
MODAL = frozenset({"dropout", "norm"})
SAME_IN_BOTH_MODES = (
    "LayerNorm",
    "RMSNorm",
    "GroupNorm",
    "LayerNormalization",
    "GroupNormalization",
)
RATES = {
    "sgd": (0.01, 0.1, 0.001),
    "adadelta": (1.0, 0.1),
    "adagrad": (0.01, 0.1),
    "lbfgs": (1.0, 0.1),
}
USUAL = (0.001, 0.01, 0.0003)
OF_QUANTITIES = (
    "mse_loss",
    "smooth_l1_loss",
    "huber_loss",
    "l1_loss",
    "MSELoss",
    "HuberLoss",
    "L1Loss",
)
"""Losses of PyTorch that compare quantities."""


def named_hyperparameter(evidence: Evidence, kind: Kind, name: str) -> Hyperparameter | None:
    """The hyperparameter of a kind that is filed under a name: `scale` and `encode`, `train`
    and `eval`.
    """
    for param in evidence.hyperparameters_of(kind):
        if param.id.layer == name:
            return param
    return None


def of_all_layers(evidence: Evidence, kind: Kind) -> Hyperparameter | None:
    """The one setting that the text gives to all layers together; none where each has its own."""
    params = [
        one for one in evidence.hyperparameters_of(kind) if not one.id.layer and not one.absent
    ]
    return params[0] if len(params) == 1 else None


def at_hyperparameter(
    finding: Finding, param: Hyperparameter | None, values: Values = ()
) -> Finding:
    """The same finding, pointing at this hyperparameter."""
    if param is None:
        return finding
    found = (*finding.first.suggestions, *suggest(param, values))
    return finding.refined(
        hyperparameter=param.id,
        place=param.place,
        suggestions=found,
    )


def at_named(
    evidence: Evidence,
    finding: Finding,
    kind: Kind,
    name: str,
    values: Values = (),
) -> Finding:
    """The same finding, pointing at the hyperparameter that is filed under a name."""
    return at_hyperparameter(finding, named_hyperparameter(evidence, kind, name), values)


def at_all_layers(
    evidence: Evidence,
    finding: Finding,
    kind: Kind,
    values: Values,
) -> Finding:
    """The same finding, pointing at the one setting of all layers where it points at none of
    its own.
    """
    if finding.hyperparameter is not None:
        return finding
    return at_hyperparameter(finding, of_all_layers(evidence, kind), values)


def has_modes(evidence: Evidence) -> bool:
    """Whether the model behaves differently in training and evaluation."""
    return any(
        layer.family in MODAL and layer.type not in SAME_IN_BOTH_MODES
        for layer in evidence.layers
        # Dropout of nothing drops nothing.
        if layer.dropped != 0
    )


def optimizer_as_spelled(evidence: Evidence) -> str:
    """Such as `AdamW`; from the text when nothing has run, empty where neither names one."""
    if evidence.optimizer is not None:
        return evidence.optimizer.name
    param = evidence.hyperparameter(Kind.OPTIMIZER)
    if param is None:
        return ""
    return str(param.in_force).rpartition(".")[2]


def optimizer_name(evidence: Evidence) -> str:
    """The same in lower case."""
    return optimizer_as_spelled(evidence).lower()


def usual_rates(evidence: Evidence) -> tuple[JsonValue, ...]:
    return RATES.get(optimizer_name(evidence), USUAL)


def raw_inputs(evidence: Evidence) -> bool:
    """Whether the model is given numbers far from unit size."""
    inputs = evidence.inputs
    return inputs is not None and max(abs(inputs.mean or 0.0), inputs.std or 0.0) > 10
