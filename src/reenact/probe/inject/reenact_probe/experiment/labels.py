"""Whether the trained model knows which label belongs to which row: the program's own loss on its
first batch, and on the same batch with the labels of other rows.

All passes have the same dropout, so the loss differs because of the labels alone. Labels that come
from the inputs (an autoencoder's, a language model's), that number the rows (of pairs) or that
hardly differ tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from reenact_probe.clock import CLOCK
from reenact_probe.experiment.tape import Tape
from reenact_probe.experiment.trials import Problem
from reenact_probe.types import Facts, Library, Tensor

PERMUTATIONS = 16
FEWEST_ROWS = 8
MOST_ALIKE = 0.8
"""Share of the rows that may have the same label."""


def permuted(
    problem: Problem,
    batch: list[Tensor],
    seconds: float,
) -> Facts | None:
    """Rows, the loss, and the loss with each of some permutations of the labels; none without such
    labels. `batch` are the tensors that a loader gave last.
    """
    torch = problem.torch
    until = CLOCK.now() + seconds
    labels = list(_labels(problem, batch))
    if not labels or not all(_differ(torch, label) for label in labels):
        return None
    source = torch.Generator().manual_seed(0)
    losses: list[float] = []
    first = problem.steady_loss({})
    while len(losses) < PERMUTATIONS and CLOCK.now() < until:
        orders = {
            rows: torch.randperm(rows, generator=source)
            for rows in {len(label) for label in labels}
        }
        losses.append(
            problem.steady_loss({id(label): label[orders[len(label)]] for label in labels})
        )
    enough = len(losses) == PERMUTATIONS
    if enough:
        return {
            "rows": min(map(len, labels)),
            "loss": first,
            "permuted": losses,
        }
    return None


def by_mode(problem: Problem) -> Facts | None:
    """The loss with batch normalization as in training and as in evaluation mode, without dropout's
    part in the second; none without such normalization.
    """
    if not any(call.name == "batch_norm" and call.has_mode for call in problem.tape.calls):
        return None
    # Training mode changes the running statistics: it comes last.
    evaluation = problem.steady_loss({}, evaluating=True)
    return {"training": problem.steady_loss({}), "evaluation": evaluation}


def stretched(problem: Problem, batch: list[Tensor]) -> Facts | None:
    """Where a loss written by hand compares the output of each row with the labels of all rows:
    shapes of output and label, and the line. Labels are what a loader gave; without a loader,
    numbers in no order next to what a layer gave.
    """
    tape = problem.tape
    calls = {id(call) for call in problem.tape.calls}
    beside = [tensor for tensor in batch if not tape.holds(tensor)]
    for call, place in tape.stretched:
        output, other = sorted(
            call.tensors(),
            key=lambda tensor: not tensor.requires_grad,
        )
        by_layer = any(
            made.name == "linear" and id(output) in map(id, made.outputs) for made in tape.calls
        )
        known = any(_same_values(other, one) for one in beside)
        known = known or (not batch and by_layer and _is_no_grid(other))
        if id(call) in calls and known and _from_outside(tape, other):
            return {
                "output": list(output.shape),
                "target": list(other.shape),
                "place": place,
            }
    return None


def padding_counted(
    problem: Problem, padding: float | None, padded: tuple[int, ...]
) -> Facts | None:
    """How many targets of a loss of classes are what the program fills rows up with, and the loss
    with and without them; none where targets are not one a place of the `padded` rows, or the loss
    leaves them out.
    """
    torch = problem.torch
    for call in problem.tape.calls:
        words = call.kwargs
        if (
            padding is None
            or call.name != "cross_entropy"
            or words.get("reduction", "mean") != "mean"
        ):
            continue
        scores, target = (
            *call.args,
            words.get("input"),
            words.get("target"),
        )[:2]
        # Weights of classes and soft targets: what counts how much is then meant so.
        known = isinstance(target, torch.Tensor) and not target.is_floating_point()
        if not known or words.get("weight") is not None or len(call.args) > 2:
            continue
        if not any(
            target.numel()
            in (
                a * b,
                a * (b - 1),
            )
            for a, b in (padded[:2], padded[1::-1])
        ):
            continue
        filled = target == padding
        skipped = words.get("ignore_index", -100)
        share = float(filled.float().mean())
        if skipped != padding and 0 < share < 1:
            scores = scores.detach()
            whole, rest = (
                call.function(
                    scores,
                    target,
                    ignore_index=int(one),
                )
                for one in (skipped, padding)
            )
            return {
                "value": int(padding),
                "share": share,
                "loss": float(whole),
                "without": float(rest),
            }
    return None


def _labels(problem: Problem, batch: list[Tensor]) -> Iterator[Tensor]:
    """Tensors of the losses that are targets, or hold what the loader gave next to the inputs."""
    tape = problem.tape
    targets = {id(pair.target) for pair in problem.pairs}
    beside = [tensor for tensor in batch if not tape.holds(tensor)]
    seen: set[int] = set()
    for call in tape.calls:
        for tensor in call.tensors():
            fresh = id(tensor) not in seen and _from_outside(tape, tensor)
            seen.add(id(tensor))
            if fresh and (
                id(tensor) in targets or any(_same_values(tensor, one) for one in beside)
            ):
                yield tensor


def _from_outside(tape: Tape, tensor: Tensor) -> bool:
    return not tensor.requires_grad and not tape.holds(tensor) and tensor.dim() > 0


def _is_no_grid(tensor: Tensor) -> bool:
    """Whether numbers go up and down, as those of rows do and a list of thresholds does not."""
    falls = tensor.reshape(-1).diff() < 0
    return len(tensor) >= FEWEST_ROWS and bool(falls.any()) and not bool(falls.all())


def _same_values(tensor: Tensor, other: Tensor) -> bool:
    same = tensor.numel() == other.numel() and len(tensor) == len(other)
    return same and bool((tensor.reshape(-1) == other.reshape(-1)).all())


def _differ(torch: Library, label: Tensor) -> bool:
    """Whether another order of these labels means something else."""
    rows = len(label)
    values, counts = torch.unique(
        label.reshape(rows, -1),
        dim=0,
        return_counts=True,
    )
    numbers_rows = len(values) == rows and not label.is_floating_point()
    return rows >= FEWEST_ROWS and not numbers_rows and int(counts.max()) <= MOST_ALIKE * rows
