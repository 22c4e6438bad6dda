"""One batch with a torch module: by its own `training_step`, or by a loss that fits the targets."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from reenact.errors import InputError
from reenact.pytest.one_batch import Trained

SEED = 0
LABELS = "labels"


class TorchLearner:
    """A torch or Lightning module with its batch."""

    def __init__(self, model: Any, batch: Any, loss: Callable[[Any, Any], Any] | None) -> None:
        self._model = model
        self._batch = batch
        self._loss = loss
        self._own_step = loss is None and callable(getattr(model, "training_step", None))
        if not self._own_step and isinstance(batch, dict) and (loss is None or LABELS in batch):
            # As Hugging Face models take it: labels among the inputs, the loss among the outputs.
            inputs = batch if loss is None else {name: part for name, part in batch.items() if name != LABELS}
            self._batch = (inputs, batch.get(LABELS))
        elif not self._own_step and not (isinstance(batch, tuple | list) and len(batch) == 2):
            raise InputError(
                "A batch is a pair of inputs and targets, or a dict that the model takes. "
                f"Received: {type(batch).__name__}."
            )
        self.can_zero = not self._own_step and _floating(self._batch[0])

    def train(self, rate: float, steps: int, *, zeroed: bool = False) -> Trained:
        import torch

        devices = sorted({p.device.index for p in self._model.parameters() if p.device.type == "cuda"})
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            torch.manual_seed(SEED)
            return self._train(_copied(self._model), rate, steps, zeroed)

    def _train(self, model: Any, rate: float, steps: int, zeroed: bool) -> Trained:
        import torch

        named = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
        if not named:
            raise InputError(f"{type(model).__name__} has no weight that may be trained.")
        optimizer = torch.optim.Adam([weight for _, weight in named], lr=rate)
        run = Trained(rate)
        model.train()
        for step in range(steps):
            optimizer.zero_grad()
            with _calls_of(model if step == 0 else None) as called:
                loss, run.accuracy = self._step(model, zeroed, run)
            run.losses.append(float(loss.detach()))
            if run.over and not (zeroed and run.learnt):
                break
            loss.backward()
            if step == 0:
                run.untouched = tuple(name for name, weight in named if _is_untouched(weight))
                run.detached = tuple(name for name in run.untouched if name.rpartition(".")[0] in called)
            optimizer.step()
        return run

    def _step(self, model: Any, zeroed: bool, run: Trained) -> tuple[Any, float | None]:
        if self._own_step:
            output = model.training_step(self._batch, 0)
            return output["loss"] if isinstance(output, dict) else output, None
        inputs, targets = self._batch
        output = _called(model, _zeroed(inputs) if zeroed else inputs)
        if self._loss is None and isinstance(inputs, dict) and (own := _loss_of(output)) is not None:
            return own, None
        if targets is None:
            raise InputError(
                "The model gives no loss for this dict.", next_step="Put labels in it, or give loss=..."
            )
        output = _logits_of(output)
        if self._loss is None or _takes_logits(self._loss):
            run.bent = _bent(output)
        if self._loss is not None:
            return self._loss(output, targets), _accuracy(output, targets)
        return _fitting_loss(output, targets), _accuracy(output, targets)


@contextmanager
def _calls_of(model: Any) -> Iterator[set[str]]:
    """Names of the innermost modules that are called meanwhile; none of them without a model."""
    called: set[str] = set()
    leaves = [] if model is None else [pair for pair in model.named_modules() if not list(pair[1].children())]
    hooks = [
        leaf.register_forward_hook(lambda *_, name=name: called.add(name)) for name, leaf in leaves if name
    ]
    try:
        yield called
    finally:
        for hook in hooks:
            hook.remove()


def _loss_of(output: Any) -> Any:
    return output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)


def _logits_of(output: Any) -> Any:
    """The scores among what a model gives: itself, or its `logits`."""
    named = output.get("logits") if isinstance(output, dict) else getattr(output, "logits", None)
    return output if named is None else named


def _takes_logits(loss: Any) -> bool:
    from torch import nn

    named = (nn.functional.cross_entropy, nn.functional.binary_cross_entropy_with_logits)
    return loss in named or isinstance(loss, nn.CrossEntropyLoss | nn.BCEWithLogitsLoss)


def _bent(output: Any) -> str:
    """Which function made probabilities of the output; empty for logits."""
    made_by = getattr(getattr(output, "grad_fn", None), "name", str)()
    return next((name for name in ("Softmax", "Sigmoid") if made_by.startswith(name)), "").lower()


def _copied(model: Any) -> Any:
    try:
        return copy.deepcopy(model)
    except Exception as error:
        raise InputError(
            f"{type(model).__name__} cannot be copied: {error}.",
            next_step="Give a model that has not been run yet, or one without tensors made by others.",
        ) from error


def _called(model: Any, inputs: Any) -> Any:
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple | list) else model(inputs)


def _fitting_loss(output: Any, targets: Any) -> Any:
    """Cross-entropy for classes, logistic for yes or no, else the squared error."""
    from torch import Tensor
    from torch.nn import functional

    if not isinstance(output, Tensor) or not isinstance(targets, Tensor):
        raise InputError(
            f"No loss is known for an output of type {type(output).__name__}.", next_step="Give loss=..."
        )
    if not targets.is_floating_point() and output.dim() == targets.dim() + 1:
        return functional.cross_entropy(output, targets)
    if output.numel() != targets.numel():
        raise InputError(
            f"No loss is known for these shapes. Received: output={tuple(output.shape)},"
            f" targets={tuple(targets.shape)}.",
            next_step="Give loss=...",
        )
    wanted = targets.reshape(output.shape).to(output.dtype)
    if _is_yes_or_no(targets):
        return functional.binary_cross_entropy_with_logits(output, wanted)
    return functional.mse_loss(output, wanted)


def _accuracy(output: Any, targets: Any) -> float | None:
    """The share of right answers; none where the targets are no classes."""
    from torch import Tensor

    if not isinstance(output, Tensor) or not isinstance(targets, Tensor) or targets.is_floating_point():
        return None
    if output.dim() == targets.dim() + 1 and output.shape[1] > 1:
        return float((output.argmax(1) == targets).float().mean())
    return None


def _is_yes_or_no(targets: Any) -> bool:
    return bool(((targets == 0) | (targets == 1)).all()) and bool((targets == 1).any())


def _is_untouched(weight: Any) -> bool:
    return weight.grad is None or not bool(weight.grad.any())


def _parts(inputs: Any) -> list[Any]:
    if isinstance(inputs, dict):
        return list(inputs.values())
    return list(inputs) if isinstance(inputs, tuple | list) else [inputs]


def _floating(inputs: Any) -> bool:
    return all(getattr(part, "is_floating_point", bool)() for part in _parts(inputs))


def _zeroed(inputs: Any) -> Any:
    if isinstance(inputs, dict):
        return {name: part * 0 for name, part in inputs.items()}
    return [part * 0 for part in inputs] if isinstance(inputs, tuple | list) else inputs * 0
