"""Hooks on torch and Keras: steps of optimizers, outputs of models, functions that predictions
go through.
"""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.paper.measure.inside.observer import (
        Observer,
        check_by_hand,
        model_gave,
        tensors_in,
    )
else:
    from observer import check_by_hand, model_gave, tensors_in

KERAS_LAYER = "keras.src.layers.layer"
KERAS_OPTIMIZER = "keras.src.optimizers.base_optimizer"


def observe_torch(observer: Observer) -> None:
    """Hooks on optimizers, modules and functions of torch."""
    _observe_steps(observer)
    _observe_modules(observer)
    _observe_functions(observer)


def _observe_steps(observer: Observer) -> None:
    from torch.optim.optimizer import (
        register_optimizer_step_post_hook,
        register_optimizer_step_pre_hook,
    )

    saved: dict[int, list[tuple[Any, Any]]] = {}

    def before_step(optimizer: Any, *_: Any) -> None:
        observer.busy = True
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        for one in parameters:
            observer.by_id.pop(id(one), None)
            if id(one) not in observer.firsts:
                observer.firsts[id(one)] = (one, one.detach().clone())
        if observer.takes_out:
            saved[id(optimizer)] = [(one, one.detach().clone()) for one in parameters]
        observer.busy = False

    def after_step(optimizer: Any, *_: Any) -> None:
        observer.busy = True
        observer.steps += 1
        observer.optimizers.add(type(optimizer).__name__)
        for one, value in saved.pop(id(optimizer), []):
            one.data.copy_(value)
        observer.predictions.updated()
        observer.busy = False

    register_optimizer_step_pre_hook(before_step)
    register_optimizer_step_post_hook(after_step)


def _observe_modules(observer: Observer) -> None:
    from torch.nn.modules.module import (
        register_module_forward_hook,
        register_module_forward_pre_hook,
    )

    def before_forward(module: Any, _: Any) -> None:
        observer.depth += 1
        if observer.depth > 1 or observer.busy:
            return
        observer.busy = True
        for one in module.parameters():
            check_by_hand(observer, one)
        observer.busy = False

    def after_forward(module: Any, inputs: Any, output: Any) -> Any:
        observer.depth = max(0, observer.depth - 1)
        if observer.depth or observer.busy:
            return None
        return model_gave(observer, module, list(tensors_in(inputs)), output)

    register_module_forward_pre_hook(before_forward)
    register_module_forward_hook(after_forward, always_call=True)


def _observe_functions(observer: Observer) -> None:
    from torch.overrides import TorchFunctionMode

    class Functions(TorchFunctionMode):
        """Sees every function of torch that Python code calls."""

        def __torch_function__(
            self,
            func: Any,
            types: Any,
            args: Any = (),
            kwargs: dict[str, Any] | None = None,
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            if observer.busy:
                return result
            observer.busy = True
            try:
                given = [
                    *tensors_in(args),
                    *tensors_in(list((kwargs or {}).values())),
                ]
                observer.predictions.seen(
                    func,
                    given,
                    list(tensors_in(result)),
                )
            finally:
                observer.busy = False
            return result

    Functions().__enter__()  # type: ignore[no-untyped-call]


def observe_keras_optimizer(observer: Observer, module: Any) -> None:
    """Every optimizer of Keras updates variables by `BaseOptimizer.apply`."""
    apply = module.BaseOptimizer.apply

    @functools.wraps(apply)
    def applied(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        variables = list(trainable_variables or getattr(self, "_trainable_variables", []))
        before = [copy.deepcopy(one.numpy()) for one in variables]
        result = apply(self, grads, trainable_variables)
        observer.steps += 1
        observer.optimizers.add(type(self).__name__)
        if observer.takes_out:
            for one, value in zip(variables, before, strict=True):
                one.assign(value)
        elif observer.steps == 1:
            changed = (
                (one.numpy() != value).any() for one, value in zip(variables, before, strict=True)
            )
            observer.by_hand += any(changed)
        observer.predictions.updated()
        return result

    module.BaseOptimizer.apply = applied


def observe_keras_layer(observer: Observer, module: Any) -> None:
    """Layers of Keras are called by `Layer.__call__`, whatever computes below them."""
    call = module.Layer.__call__

    @functools.wraps(call)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        observer.depth += 1
        try:
            output = call(self, *args, **kwargs)
        finally:
            observer.depth -= 1
        if observer.depth or observer.busy or not hasattr(self, "parameters"):
            return output
        changed = model_gave(
            observer,
            self,
            list(tensors_in(args)),
            output,
        )
        return output if changed is None else changed

    module.Layer.__call__ = called
