"""Weights of a target network or an average, which follow weights that learn."""

from reenact.probe.trace import Trace

UNNAMED = "unnamed."
"""How the probe begins the name of a weight that it saw in an optimizer alone."""


def copies_in(trace: Trace) -> frozenset[str]:
    """Weights that no optimizer has, and that have name and shape of weights that one has; the shape
    alone where those learn and no one saw their names.
    """
    facts = trace.parameter_facts
    learn: set[tuple[str, tuple[int, ...]]] = set()
    for number, one in enumerate(facts):
        if one.in_optimizer and not one.name.startswith(UNNAMED):
            learn.add((_tail(one.name), one.shape))
        elif one.in_optimizer and trace.parameters.where(parameter=number)["grad_present"].any():
            learn.add(("", one.shape))
    others = [one for one in facts if not one.in_optimizer]
    return frozenset(
        one.name for one in others if learn & {(_tail(one.name), one.shape), ("", one.shape)}
    )


def _tail(name: str) -> str:
    """The name of a weight below its model: that of the layer and its own."""
    return ".".join(name.replace("/", ".").split(".")[-2:])
