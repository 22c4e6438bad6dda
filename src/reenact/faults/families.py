"""Families: the published tools whose checks are among the detectors, each a view over all faults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """A tool, and how its detectors are called."""

    name: str
    letters: str
    """The first two of its codes."""
    about: str
    paper: str = ""


_ALL = (
    Family(
        "deeplocalize",
        "DL",
        "Numerical symptoms, batch by batch, at the first layer hit.",
        (
            'Wardat, Le and Rajan, "DeepLocalize: Fault Localization for Deep Neural Networks", '
            "ICSE 2021"
        ),
    ),
    Family(
        "deepdiagnosis",
        "DD",
        "Symptoms at the end of epochs, and a decision tree to advice.",
        'Wardat, Cruz, Le and Rajan, "DeepDiagnosis: Automatically Diagnosing Faults and '
        'Recommending Actionable Fixes in Deep Learning Programs", ICSE 2022',
    ),
    Family(
        "umlaut",
        "UM",
        "What a tutor would remark on data, architecture and curves.",
        'Schoop, Huang and Hartmann, "UMLAUT: Debugging Deep Learning Programs using Program '
        'Structure and Model Behavior", CHI 2021',
    ),
    Family(
        "neuralint",
        "NL",
        "Structural rules over the model's graph.",
        'Nikanjam, Ben Braiek, Morovati and Khomh, "Automatic Fault Detection for Deep Learning '
        'Programs Using Graph Transformations" (NeuraLint), TOSEM 2021',
    ),
    Family(
        "autotrainer",
        "AT",
        "Training problems in curves and gradients.",
        'Zhang, Zhai, Ma and Shen, "AutoTrainer: An Automatic DNN Training Problem Detection and '
        'Repair System", ICSE 2021',
    ),
    Family(
        "deepchecker",
        "TC",
        "Properties of a training program.",
        'Ben Braiek and Khomh, "Testing Feedforward Neural Networks Training Programs" '
        "(TheDeepChecker), "
        "TOSEM 2022",
    ),
    Family("reenact", "RE", "Our own detectors: what no tool of the study covers."),
)
FAMILIES = {family.name: family for family in _ALL}
"""By name, in the order in which they are listed."""
