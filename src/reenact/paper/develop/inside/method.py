"""The model and its loss on one batch: finite, with gradients and declared shapes, falling when repeated."""

from __future__ import annotations

import importlib
import math
import time
from typing import Any

from .report import Report, seed_all

RATES = (1e-3, 1e-2, 1e-4)
"""Learning rates of our own training on one batch: a sound loss falls with one of them."""
FALL = 0.01
"""Share of the loss by which it must fall."""
FILE = "model.py"


class Method:
    """One look at model.py."""

    def __init__(self, report: Report, steps: int, seconds: float) -> None:
        self.report = report
        self.steps = steps
        self.until = time.monotonic() + seconds
        self.module: Any = None

    def look(self, batch: Any) -> None:
        with self.report.doing("importing model.py"):
            self.module = importlib.import_module("model")
        if self.module is None:
            return
        if not (hasattr(self.module, "build_model") and hasattr(self.module, "loss_on")):
            self.report.facts.append(
                "model.py has no build_model and loss_on: one batch was not trained on; the dry run judges."
            )
            return
        made = loss = None
        with self.report.doing("computing the loss of one mini-batch"):
            made = self._build()
            loss = self._loss(made, batch)
            if not math.isfinite(float(loss)):
                self.report.problem(f"The loss of one mini-batch is {float(loss)}, not finite.", FILE)
        if not self.report.problems:
            self._train(made, loss, batch)

    def _train(self, made: Any, loss: Any, batch: Any) -> None:
        if hasattr(made, "parameters") and hasattr(loss, "backward"):
            with self.report.doing("training on one mini-batch"):
                if self._backward(made, batch):
                    self._fall_by_gradient(batch)
        elif hasattr(self.module, "update"):
            with self.report.doing("calling model.update on one mini-batch"):
                self._fall_by_update(made, batch, float(loss))
        else:
            self.report.facts.append("No gradients and no `update`: one batch was not trained on.")

    def _build(self) -> Any:
        seed_all(0)
        return self.module.build_model(0)

    def _loss(self, made: Any, batch: Any) -> Any:
        """The same chance every time, so that a falling loss is not luck."""
        seed_all(0)
        return self.module.loss_on(made, batch)

    def _backward(self, made: Any, batch: Any) -> bool:
        """Forward with declared shapes looked at, backward, gradients finite and somewhere not nought."""
        seen = _watch_shapes(made)
        loss = self._loss(made, batch)
        self._compare_shapes(seen)
        if loss.numel() != 1:
            self.report.problem(f"loss_on gives shape {tuple(loss.shape)}, not one number.", FILE)
            return False
        loss.backward()
        named = [(name, one) for name, one in made.named_parameters() if one.requires_grad]
        reached = {name: one.grad for name, one in named if one.grad is not None}
        count = sum(one.numel() for _, one in named)
        self.report.facts.append(f"The model has {count} trainable parameters in {len(named)} tensors.")
        if not any(bool((grad != 0).any()) for grad in reached.values()):
            self.report.problem("No gradient reaches a parameter: the loss does not depend on them.", FILE)
        broken = [name for name, grad in reached.items() if not bool(grad.isfinite().all())]
        if broken:
            self.report.problem(f"Gradients are not finite: {', '.join(broken[:5])}.", FILE)
        lost = [name for name, _ in named if name not in reached]
        if lost:
            self.report.facts.append(f"The loss does not reach these parameters: {', '.join(lost[:8])}.")
        return not self.report.problems

    def _fall_by_gradient(self, batch: Any) -> None:
        import torch

        seen = []
        for rate in RATES:
            made = self._build()
            rule = torch.optim.Adam([one for one in made.parameters() if one.requires_grad], lr=rate)
            first = last = float(self._loss(made, batch))
            for _ in range(self.steps):
                rule.zero_grad()
                self._loss(made, batch).backward()
                rule.step()
                last = float(self._loss(made, batch))
                if self._enough(first, last):
                    break
            seen.append((rate, first, last))
            if _fell(first, last):
                break
        self._told(_fell(first, last), "; ".join(f"{a:.3g} -> {b:.3g} at rate {r:g}" for r, a, b in seen))

    def _fall_by_update(self, made: Any, batch: Any, first: float) -> None:
        last = first
        for _ in range(self.steps):
            seed_all(0)
            changed = self.module.update(made, batch)
            made = changed if changed is not None else made
            last = float(self._loss(made, batch))
            if self._enough(first, last):
                break
        self._told(_fell(first, last), f"{first:.3g} -> {last:.3g}")

    def _enough(self, first: float, last: float) -> bool:
        return _fell(first, last) or not math.isfinite(last) or time.monotonic() > self.until

    def _told(self, fell: bool, seen: str) -> None:
        if fell:
            self.report.facts.append("The loss falls when one mini-batch is repeated.")
            return
        self.report.problem(
            f"The loss does not fall when one mini-batch is repeated {self.steps} times: {seen}.", FILE
        )

    def _compare_shapes(self, seen: dict[str, tuple[int, ...]]) -> None:
        """Declared shapes against those that came out; none stands for any size."""
        for name, wanted in dict(getattr(self.module, "SHAPES", {})).items():
            got, label = seen.get(name), name or "the model"
            if got is None:
                self.report.problem(f"SHAPES names {label!r}, which gives no tensor in loss_on.", FILE)
            elif len(got) != len(wanted) or any(
                want not in (None, size) for want, size in zip(wanted, got, strict=True)
            ):
                self.report.problem(f"{label} gives shape {got}; declared is {tuple(wanted)}.", FILE)
            else:
                self.report.facts.append(f"{label} gives shape {got}, as declared.")


def _watch_shapes(made: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of what each part gives, filled while the model runs."""
    seen: dict[str, tuple[int, ...]] = {}

    def hear(name: str) -> Any:
        def hook(_part: Any, _inputs: Any, output: Any) -> None:
            first = output[0] if isinstance(output, list | tuple) and output else output
            if hasattr(first, "shape"):
                seen[name] = tuple(int(one) for one in first.shape)

        return hook

    for name, part in made.named_modules():
        part.register_forward_hook(hear(name))
    return seen


def _fell(first: float, last: float) -> bool:
    return math.isfinite(last) and last < first - max(FALL * abs(first), 1e-7)
