"""Attaches another diagnosis tool to a training program that knows nothing of it, by the tool's own advice.

The variables REENACT_OTHER_TOOL and REENACT_OTHER_OUT name the tool and the file of its findings. It is given the
outermost model of the first optimizer that steps, that optimizer and, where it wants one, the first batch
with the loss, if the model's output goes into a loss of torch as it is. Its findings are written at the end.
"""

import atexit
import contextlib
import gc
import importlib.util
import json
import os
import sys

LOSSES = (
    "cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)  # fmt: skip
METHODS = {
    "torch-audit": "torch_audit", "torchmortem": "torchmortem", "torchtest2": "torchtest2",
    "DEFault++": "defaultplusplus",
}  # fmt: skip
EVERY = 10
"""Steps between two looks of torch-audit: trainings here are short."""


class Attached:
    """One tool beside one training."""

    def __init__(self, torch, tool):
        self.torch, self.tool = torch, tool
        self.findings, self.finish, self.model = [], None, None
        self.loss = None
        self.error = ""
        self.calls = {}
        self.last = None
        torch.nn.modules.module.register_module_forward_hook(self.called, with_kwargs=True)
        optimizers = importlib.import_module("torch.optim.optimizer")
        optimizers.register_optimizer_step_pre_hook(self.stepping)
        optimizers.register_optimizer_step_post_hook(self.stepped)
        for name in LOSSES:
            self.watch_loss(name)
        self.watch_backward()

    def watch_loss(self, name):
        functional = self.torch.nn.functional
        original = getattr(functional, name)

        def loss(output, target, *args, **kwargs):
            self.loss = (output, target, lambda out, true: original(out, true, *args, **kwargs))
            return original(output, target, *args, **kwargs)

        setattr(functional, name, loss)

    def watch_backward(self):
        original = self.torch.Tensor.backward

        def backward(tensor, *args, **kwargs):
            if tensor.numel() == 1:
                self.last = float(tensor.detach())
            return original(tensor, *args, **kwargs)

        self.torch.Tensor.backward = backward

    def called(self, module, args, kwargs, output):
        if self.model is None or (module is self.model and self.tool == "DEFault++"):
            self.calls[id(module)] = (args, kwargs, output)

    def stepping(self, optimizer, *_):
        if self.model is not None:
            return
        self.model = self.outermost(optimizer) or False
        if self.model is not False:
            try:
                self.finish = getattr(self, METHODS[self.tool])(self.model, optimizer)
            except Exception as error:  # a tool that breaks has found nothing; the training goes on
                self.error = repr(error)
        self.calls = {id(self.model): self.calls.get(id(self.model), ((), {}, None))}

    def stepped(self, optimizer, *_):
        if self.finish is None or self.last is None or self.error:
            return
        if self.tool == "torchmortem":
            self.finish.step(loss=self.last)
        if self.tool == "DEFault++":
            _, given, output = self.calls[id(self.model)]
            tensors = {name: given.get(name) for name in ("input_ids", "attention_mask", "labels")}
            with contextlib.suppress(Exception):  # as its own callback does: the run goes on with fewer features
                self.finish.step(loss=self.last, outputs=output, optimizer=optimizer, **tensors)

    def outermost(self, optimizer):
        """The module with most of the optimizer's parameters; of equal ones that which holds the others."""
        held = {id(one) for group in optimizer.param_groups for one in group["params"]}
        models = [one for one in gc.get_objects() if isinstance(one, self.torch.nn.Module)]
        size = {id(one): sum(id(weight) in held for weight in one.parameters()) for one in models}
        models = [one for one in models if size[id(one)]]
        return max(models, key=lambda one: (size[id(one)], len(list(one.modules()))), default=None)

    # Each returns what `ended` finishes.

    def torch_audit(self, model, optimizer):
        from torch_audit import autopatch

        return autopatch(
            model, optimizer=optimizer, every_n_steps=EVERY, reporters=[], suppress_internal_errors=True
        )

    def torchmortem(self, model, optimizer):
        from torchmortem import Autopsy

        return Autopsy(model, optimizer=optimizer).__enter__()

    def torchtest2(self, model, optimizer):
        import torchtest2

        args, kwargs, output = self.calls.get(id(model), (None, None, None))
        if args is None:
            return None
        given = {}
        if self.loss is not None and self.loss[0] is output:
            given = {"targets": self.loss[1], "loss_fn": self.loss[2]}
        report = torchtest2.check_model(model, kwargs or tuple(args), optimizer=optimizer, **given)
        self.findings = [
            {"rule": one.name, "level": one.status.value, "text": one.message}
            for one in report.results if one.status.value in ("WARN", "FAIL")
        ]  # fmt: skip
        return None

    def defaultplusplus(self, model, optimizer):
        """It knows models of transformers alone: of others there is no feature of its schema."""
        from defaultplusplus import FeatureExtractor

        config = getattr(model, "config", None)
        if not hasattr(config, "model_type"):
            self.model = False
            return None
        # Attention weights, which it reads, are given by this form alone.
        model.set_attn_implementation("eager")
        config.output_attentions = config.output_hidden_states = True
        return FeatureExtractor(model)

    def ended(self):
        try:
            if self.finish is not None and self.tool == "DEFault++":
                from defaultplusplus.diagnosis import load_pretrained

                self.finish.epoch_end()
                predictor = load_pretrained(self.finish.arch, strict_schema=False)
                found = predictor.predict(self.finish.finalize())
                text = f"faulty with probability {found.detection_prob:.2f}, {found.root_cause}"
                self.findings = (
                    [{"rule": found.category, "level": "FAULTY", "text": text}] if found.is_faulty else []
                )
            if self.finish is not None and self.tool == "torch-audit":
                self.findings = [
                    {"rule": one.rule_id, "level": one.severity.value, "text": one.message}
                    for one in self.finish.finish().findings
                ]
            elif self.finish is not None and self.tool == "torchmortem":
                self.finish.detach()
                self.findings = [
                    {"rule": title_words(one.title), "level": one.severity.name, "text": one.summary}
                    for one in self.finish.get_report().findings
                ]
        except Exception as error:
            self.error = repr(error)
        facts = {"attached": bool(self.model), "error": self.error, "findings": self.findings}
        with open(os.environ["REENACT_OTHER_OUT"], "w", encoding="utf-8") as file:
            json.dump(facts, file)


def title_words(title):
    """What was found, without the layer it was found in."""
    return title.split(" in ")[0]


class WhenImported:
    """Attaches once torch is there, and imports nothing itself."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        execute = spec.loader.exec_module

        def exec_module(module):
            del spec.loader.exec_module
            execute(module)
            attached = Attached(module, os.environ["REENACT_OTHER_TOOL"])
            atexit.register(attached.ended)

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get("REENACT_OTHER_OUT"):
    sys.meta_path.insert(0, WhenImported())
