"""What the learned detector says of a watched training, as findings next to those of the rules.

The shipped model is a forest of decision trees as plain arrays, read and asked with NumPy alone. No
pickle: the file is an npz of numbers and text. Every tree belongs to one class and is a range of
nodes; a node sends a row to its left child when the value of its feature is at most its threshold;
a leaf holds what it adds to the class's log-odds. The probability then goes through a calibration
curve, so that 0.7 means right in seven of ten.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reenact.diagnosis.learned.features import features, matrix
from reenact.errors import InputError
from reenact.faults.detector import suggest
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import Observation, Severity
from reenact.program.hyperparameter import Kind
from reenact.program.layer_view import LayerView

FAMILY = "learned"
LEAST = 0.5
"""Below it the detector keeps silent."""
MOST_SUGGESTIONS = 4


@dataclass(frozen=True, slots=True)
class FaultClass:
    """One answer of the detector."""

    code: str
    name: str
    faults: tuple[FaultType, ...]
    """Fault types that it stands for; its findings carry the first."""
    kinds: tuple[Kind, ...]
    """Hyperparameters at fault, the likeliest first."""
    word: str
    """What the reader calls it."""
    had: str
    """What trainings with such a fault had in common."""


CLASSES = (
    FaultClass(
        "LD001",
        "learned-learning-rate",
        (FaultType.HLR,),
        (Kind.LEARNING_RATE,),
        "learning rate",
        "had a wrong learning rate",
    ),
    FaultClass(
        "LD002",
        "learned-optimizer",
        (FaultType.OCH,),
        (Kind.OPTIMIZER,),
        "optimiser",
        "had an unsuitable optimiser",
    ),
    FaultClass(
        "LD003",
        "learned-activation",
        (FaultType.ACH, FaultType.ARM, FaultType.AAL),
        (Kind.ACTIVATION,),
        "activation",
        "had a wrong activation",
    ),
    FaultClass(
        "LD004",
        "learned-loss",
        (FaultType.LCH,),
        (Kind.LOSS,),
        "loss",
        "had an unsuitable loss",
    ),
    FaultClass(
        "LD005",
        "learned-epochs",
        (FaultType.HNE,),
        (Kind.EPOCHS,),
        "number of epochs",
        "were stopped too soon",
    ),
    FaultClass(
        "LD006",
        "learned-batch-size",
        (FaultType.HBS,),
        (Kind.BATCH_SIZE,),
        "batch size",
        "had unsuitable batches",
    ),
    FaultClass(
        "LD007",
        "learned-weight-init",
        (FaultType.WCI,),
        (Kind.WEIGHT_INIT,),
        "initial weights",
        "began with unsuitable weights",
    ),
    FaultClass(
        "LD008",
        "learned-regularisation",
        (FaultType.RAW, FaultType.HWD),
        (Kind.WEIGHT_REGULARIZER, Kind.WEIGHT_DECAY),
        "regularisation",
        "were held back too much",
    ),
)
"""The fault classes the detector can name; their codes are literals for ever."""
BY_CODE = {one.code: one for one in CLASSES}


def learned_findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings with a calibrated confidence of at least `LEAST`, the surest first; none without
    a trace.
    """
    if evidence.trace is None or not evidence.trace.step_count:
        return ()
    probabilities = load().probabilities(features(evidence))
    sure = sorted(
        ((value, code) for code, value in probabilities.items() if value >= LEAST),
        reverse=True,
    )
    return tuple(
        _finding(evidence, BY_CODE[code], value) for value, code in sure if code in BY_CODE
    )


def _finding(evidence: Evidence, one: FaultClass, confidence: float) -> Finding:
    layer = _layer(evidence, one)
    params = [param for kind in one.kinds for param in evidence.hyperparameters_of(kind, layer)]
    # The one that is written, else one that could be.
    param = next(
        (one for one in params if not one.absent),
        next(iter(params), None),
    )
    looks = (
        f"the trace looks like that of a training with a wrong {one.word} (probability "
        f"{confidence:.2f})"
    )
    why = f"Trainings that looked like this one in the detector's school {one.had}."
    seen = Observation(
        code=one.code,
        name=one.name,
        family=FAMILY,
        fault=one.faults[0],
        severity=Severity.WARNING,
        saw=looks,
        why=why,
        confidence=confidence,
        layer=layer.name if layer is not None else "",
        layer_index=layer.index if layer is not None else None,
        is_calibrated=True,
    )
    if param is None:
        return finding_of(seen)
    suggestions = tuple(suggest(param, param.alternatives))[:MOST_SUGGESTIONS]
    placed = replace(
        seen,
        place=param.place,
        hyperparameter=param.id,
        suggestions=suggestions,
    )
    return finding_of(placed)


def _layer(evidence: Evidence, one: FaultClass) -> LayerView | None:
    """Of a fault that belongs to layers, one that looks wrong by itself; none where all look
    alike.
    """
    if one.kinds[0] is not Kind.ACTIVATION:
        return None
    hidden = [
        layer for layer in evidence.weighted if layer.role == "hidden" and layer.family == "dense"
    ]
    bent = [layer for layer in hidden if layer.activation in (None, "linear", "sigmoid", "softmax")]
    return bent[0] if bent else evidence.output


MODEL = Path(__file__).parent / "model.npz"
FORMAT = 1


@dataclass(frozen=True)
class Forest:
    """Trees and what they mean."""

    names: tuple[str, ...]
    """Features, in the order of the columns."""
    codes: tuple[str, ...]
    """Classes, in the order of the columns of what comes out."""
    roots: NDArray[np.int32]
    """First node of each tree."""
    owner: NDArray[np.int16]
    """Number of the class that each tree speaks of."""
    prior: NDArray[np.float64]
    """Log-odds of each class before any tree has spoken."""
    feature: NDArray[np.int16]
    """Feature that a node asks for; -1 at a leaf."""
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    """What a leaf adds."""
    curve_x: NDArray[np.float32]
    """One calibration curve a class: probabilities of the trees, ascending..."""
    curve_y: NDArray[np.float32]
    """... and what they are worth."""

    def raw(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """Probabilities before calibration: one row a training, one column a class."""
        at = np.broadcast_to(self.roots, (len(x), len(self.roots))).copy()
        rows = np.arange(len(x))[:, None]
        while (inner := self.feature[at] >= 0).any():
            goes_left = x[rows, np.maximum(self.feature[at], 0)] <= self.threshold[at]
            at = np.where(
                inner,
                np.where(
                    goes_left,
                    self.left[at],
                    self.right[at],
                ),
                at,
            )
        odds = np.broadcast_to(self.prior, (len(x), len(self.codes))).copy()
        for tree, owner in enumerate(self.owner):
            odds[:, owner] += self.value[at[:, tree]]
        probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
        return probabilities

    def probabilities(
        self,
        features: Mapping[str, float],
    ) -> dict[str, float]:
        """Calibrated probability of each class, by code."""
        probabilities = self.calibrated(self.raw(matrix([features], self.names)))[0]
        return {code: float(value) for code, value in zip(self.codes, probabilities, strict=True)}

    def calibrated(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """What raw probabilities are worth, column by column."""
        curves = zip(raw.T, self.curve_x, self.curve_y, strict=True)
        return np.stack(
            [np.interp(values, xs, ys) for values, xs, ys in curves],
            axis=1,
        )

    def save(self, file: Path) -> None:
        """Write it; the file is the same for the same forest."""
        arrays = {field: getattr(self, field) for field in _ARRAYS}
        texts = {
            "names": np.array(self.names),
            "codes": np.array(self.codes),
            "format": np.array([FORMAT]),
        }
        with file.open("wb") as sink:
            np.savez_compressed(sink, allow_pickle=False, **arrays, **texts)


_ARRAYS = (
    "roots",
    "owner",
    "prior",
    "feature",
    "threshold",
    "left",
    "right",
    "value",
    "curve_x",
    "curve_y",
)


@lru_cache(maxsize=4)
def load(file: Path = MODEL) -> Forest:
    """The forest in a file; raises InputError when it is not one."""
    import zipfile

    try:
        with np.load(file, allow_pickle=False) as found:
            if int(found["format"][0]) != FORMAT:
                raise InputError(
                    f"The detector has another format than {FORMAT}. Received: {file}."
                )
            names, codes = (tuple(map(str, found[key])) for key in ("names", "codes"))
            return Forest(
                names,
                codes,
                *(found[key] for key in _ARRAYS),
            )
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        why = f"The learned detector cannot be read ({error}). Received: {file}."
        raise InputError(
            why, next_step="Train it again: python -m benchmarks train-detector."
        ) from error
