"""What can be computed from one batch of predictions and labels: small sums that stay on their device until
they are read, and never a copy of either.
"""

from __future__ import annotations

from typing import Any

from reenact_probe.books.ratios import COUNTED, ratios
from reenact_probe.types import Facts, Library, Tensor

MOST_NUMBERS = 1 << 21
"""Predictions of more numbers are not read."""
MOST_CLASSES = 16
"""Classes that are counted one by one."""
IGNORED = -100
CLASSES = "classes"
BINARY = "binary"
NUMBERS = "numbers"
ANSWERS = "answers"
_HALF = 0.5


class Stream:
    """The batches that one model was asked about in one evaluation."""

    def __init__(
        self,
        model: str,
        source: str,
        trains: bool,
        asked_at: int = 0,
    ) -> None:
        self.model = model
        self.asked_at = asked_at
        """The line that asks, where no loader gave the rows."""
        self.source = source
        self.trains = trains
        """The rows come from the loader that feeds the training."""
        self.kind = ""
        self.complete = True
        """Every pass could be read."""
        self._names: tuple[str, ...] = ()
        self._batches: list[Tensor] = []
        self._facts: Facts | None = None

    def add(self, torch: Library, prediction: Tensor, labels: Tensor) -> None:
        """Take a batch: its counts and sums, as one vector."""
        prediction, labels = fitted(prediction, labels)
        # What kind it is is asked once: the values of the labels lie on a device.
        if prediction.numel() > MOST_NUMBERS or not fits(prediction, labels, self.kind):
            self.complete = False
            return
        self.kind = kind = self.kind or kind_of(prediction, labels)
        self._names, values = _SUMS[kind](torch, prediction.detach(), labels.detach())
        self._batches.append(torch.stack([value.double() for value in values]))
        self._facts = None

    def facts(self, torch: Library) -> Facts | None:
        """Means over rows and over batches, and those of the last batch, by name."""
        if self._facts is None and self._batches:
            if len({len(batch) for batch in self._batches}) > 1:
                return None
            table = torch.stack(self._batches).cpu().tolist()
            self._facts = self._read(table)
            self._batches = [torch.tensor(row, dtype=torch.float64) for row in table]
        return self._facts

    def _read(self, table: list[list[float]]) -> Facts:
        rows = [row[0] for row in table]
        sums = list(zip(*table))
        measures = [
            _measure(name, sums[index], rows)
            for index, name in enumerate(self._names)
            if index and not name.startswith(COUNTED)
        ]
        return {
            "model": self.model,
            "source": self.source,
            "asked_at": self.asked_at,
            "trains": self.trains,
            "kind": self.kind,
            "complete": self.complete,
            "batches": len(table),
            "rows": sum(rows),
            "largest": max(rows),
            "measures": [measure for measure in measures if measure is not None],
            "recalls": _recalls(self._names, sums),
            "ratios": ratios(self._names, table),
        }


def _measure(name: str, sums: Any, rows: list[float]) -> Facts | None:
    if not all(abs(value) < float("inf") for value in sums) or not all(rows):
        return None
    shares = [value / count for value, count in zip(sums, rows)]
    return {
        "name": name,
        "total": sum(sums),
        "shares": sum(shares),
        "last": shares[-1],
    }


def _recalls(names: tuple[str, ...], sums: Any) -> list[float]:
    """Of each class that occurs, the share that is found."""
    by_name = dict(zip(names, sums))
    found = []
    for name, counts in by_name.items():
        if name.startswith("count") and sum(counts):
            hits = by_name["hits" + name[len("count") :]]
            found.append(sum(hits) / sum(counts))
    return found


def fitted(prediction: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The two without a last or middle axis of one that only one of them has."""
    if labels.device != prediction.device:
        labels = labels.to(prediction.device)
    if prediction.dim() == labels.dim() + 1 and prediction.shape[-1] == 1:
        prediction = prediction.squeeze(-1)
    elif labels.dim() == prediction.dim() + 1 and labels.shape[-1] == 1:
        labels = labels.squeeze(-1)
    wide = prediction.dim() == labels.dim() and labels.dim() > 1
    if wide and labels.shape[-1] == 1 and prediction.shape[-1] > 1:
        labels = labels.squeeze(-1)
    return prediction, labels


def is_made_of(output: Tensor, answers: Tensor, labels: Tensor) -> bool:
    """Whether answers are the largest of each row of an output, or where it is above 0 or above one
    half, so that the output reports all that they tell.
    """
    if not output.is_floating_point() or not output.dim() or output.numel() > MOST_NUMBERS:
        return False
    output, labels = fitted(output, labels)
    if not fits(output, labels, ""):
        return False
    if answers.numel() == labels.numel():
        answers = answers.reshape(labels.shape)
    if output.dim() == labels.dim():
        made = [output > 0, output > _HALF]
    else:
        middle = output.shape[:1] + output.shape[2:] == labels.shape
        made = [output.argmax(1 if middle else -1)]
    for one in made:
        fits_answers = one.shape == answers.shape and answers.device == one.device
        if fits_answers and bool((one == answers).all()):
            return True
    return False


def whole(answers: Tensor) -> Tensor:
    """Answers as whole numbers."""
    if answers.is_floating_point():
        return answers.round().long()
    return answers


def fits(prediction: Tensor, labels: Tensor, kind: str) -> bool:
    """Whether the two can be compared, in a stream of this kind."""
    if not prediction.numel() or labels.is_complex() or prediction.is_complex():
        return False
    if not prediction.is_floating_point():
        return kind in ("", ANSWERS) and prediction.shape == labels.shape
    if prediction.dim() == labels.dim() + 1 and not labels.is_floating_point():
        rest = prediction.shape[:1] + prediction.shape[2:]
        return kind in ("", CLASSES) and labels.shape in (rest, prediction.shape[:-1])
    return kind in ("", BINARY, NUMBERS) and prediction.shape == labels.shape


def kind_of(prediction: Tensor, labels: Tensor) -> str:
    """How two that fit are compared."""
    if not prediction.is_floating_point():
        return ANSWERS
    if prediction.dim() == labels.dim() + 1:
        return CLASSES
    if bool(((labels == 0) | (labels == 1)).all()):
        return BINARY
    return NUMBERS


def _of_answers(
    torch: Library, answers: Tensor, labels: Tensor
) -> tuple[tuple[str, ...], list[Tensor]]:
    rows = torch.full((), float(labels.numel()), device=labels.device)
    right = answers == labels
    names = ["rows", "accuracy"]
    values = [rows, right.sum()]
    for number in range(MOST_CLASSES):
        of_class = labels == number
        hits = right & of_class
        named = answers == number
        names += [f"count{number}", f"hits{number}", f"named{number}"]
        values += [of_class.sum(), hits.sum(), named.sum()]
    return tuple(names), values


def _of_classes(
    torch: Library, prediction: Tensor, labels: Tensor
) -> tuple[tuple[str, ...], list[Tensor]]:
    middle = prediction.shape[:1] + prediction.shape[2:] == labels.shape
    scores = prediction.movedim(1, -1) if middle else prediction
    scores = scores.reshape(-1, scores.shape[-1]).float()
    labels = labels.reshape(-1).long()
    classes = scores.shape[-1]
    counted = (labels >= 0) & (labels < classes)
    chosen = labels.where(counted, torch.zeros_like(labels)).unsqueeze(1)
    answers = scores.argmax(1)
    right = (answers == labels) & counted
    names = ["rows", "accuracy", "cross-entropy", "nll"]
    logarithms = scores.log_softmax(1)
    losses = [-logarithms.gather(1, chosen), -scores.gather(1, chosen)]
    values = [counted.sum(), right.sum()]
    values += [(loss.squeeze(1) * counted).sum() for loss in losses]
    for number in range(classes if classes <= MOST_CLASSES else 0):
        of_class = labels == number
        hits = right & of_class
        named = (answers == number) & counted
        names += [f"count{number}", f"hits{number}", f"named{number}"]
        values += [of_class.sum(), hits.sum(), named.sum()]
    return tuple(names), values


def _of_two(
    torch: Library, prediction: Tensor, labels: Tensor
) -> tuple[tuple[str, ...], list[Tensor]]:
    rows = torch.full((), float(labels.numel()), device=labels.device)
    wanted = labels > 0.5
    target = labels.float()
    prediction = prediction.float()
    inside = ((prediction >= 0) & (prediction <= 1)).float().mean()
    names = ["rows", "inside", "bce-of-logits", "bce", "mse", "mae"]
    shares = prediction.clamp(0, 1)
    logs = [part.log().clamp(min=-100) for part in (shares, 1 - shares)]
    rest = (-prediction.abs()).exp().log1p()
    with_logits = prediction.clamp(min=0) - prediction * target + rest
    by_share = -(target * logs[0] + (1 - target) * logs[1])
    away = prediction - target
    values = [rows, inside * rows, with_logits.sum(), by_share.sum()]
    values += [(away**2).sum(), away.abs().sum()]
    names += ["yes"]
    values += [wanted.sum()]
    for limit in (0.0, 0.5):
        claimed = prediction > limit
        right = claimed == wanted
        found = claimed & wanted
        names.append(f"accuracy-above-{limit:g}")
        names.append(f"found-above-{limit:g}")
        names.append(f"claimed-above-{limit:g}")
        values += [right.sum(), found.sum(), claimed.sum()]
    return tuple(names), values


def _of_numbers(
    torch: Library, prediction: Tensor, labels: Tensor
) -> tuple[tuple[str, ...], list[Tensor]]:
    away = prediction.float() - labels.float()
    elements = torch.full((), float(away.numel()), device=away.device)
    names = ("rows", "mse", "mae", "label-sum", "label-squares")
    given = labels.double()
    values = [elements, (away**2).sum(), away.abs().sum(), given.sum(), (given**2).sum()]
    return names, values


_SUMS: dict[str, Any] = {
    CLASSES: _of_classes,
    BINARY: _of_two,
    NUMBERS: _of_numbers,
    ANSWERS: _of_answers,
}
