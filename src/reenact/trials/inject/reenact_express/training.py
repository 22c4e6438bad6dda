"""The training loop in the place of Keras's: the same epochs, callbacks and logs around a bare step."""

from __future__ import annotations

import time

from reenact_express import updates
from reenact_express.data import Order, tensors_of
from reenact_express.flat import Flat, Shared
from reenact_express.logs import Logs
from reenact_express.refused import Refused
from reenact_express.stepping import Engine, Step
from reenact_express.told import Rows

CLOSE = 1e-3
"""How far the first batch may come out from what Keras makes of it."""
_BATCH_HOOKS = ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end")


class Held:
    """Data of one kind: training or validation."""

    def __init__(self, torch, iterator):
        self.x, self.y, self.sample_weight = tensors_of(torch, iterator)
        self.order = Order(torch, iterator)
        self.targets = None


class Training:
    """One `fit`, recognised. Made before anything is trained; raises Refused."""

    def __init__(self, keras, torch, model, plan, variables, iterator):
        self.keras, self.torch, self.model = keras, torch, model
        self.plan = plan
        self.variables = variables
        self.trainable = variables[: plan["trainable"]]
        if not self.trainable:
            raise Refused("nothing in the model is trainable")
        self.weights = [variable.value for variable in variables]
        self.optimizer = model.optimizer
        self.rule = updates.read_optimizer(keras, self.optimizer)
        if [id(v) for v in self.optimizer._trainable_variables] != [id(v) for v in self.trainable]:
            raise Refused("the optimiser was made for other weights")
        self.logs = Logs(model)
        self.engine = Engine(torch, plan)
        self.held = Held(torch, iterator)
        self.batch = iterator.data_adapter.batch_size
        self.steps = iterator.num_batches
        self.rows = Rows(self.batch)
        self._check_first_batch()

    def _check_first_batch(self):
        """What is read here must come out as Keras makes it."""
        torch, model, held = self.torch, self.model, self.held
        x, y = held.x[: self.batch], held.y[: self.batch]
        held.targets = self.engine.targets(held.y, self.weights, held.x)
        with torch.no_grad():
            theirs = model(x, training=False)
            expected = model._compute_loss(x=x, y=y, y_pred=theirs, sample_weight=None, training=False)
            loss, ours = self.engine.total(self.weights, x, held.targets[: self.batch], None, False)
        close = ours.shape == theirs.shape and torch.allclose(
            ours, theirs, rtol=CLOSE, atol=CLOSE * 1e-2, equal_nan=True
        )
        if not close or not torch.allclose(loss, expected, rtol=CLOSE, atol=1e-6, equal_nan=True):
            raise Refused("the first batch comes out differently")

    def slots(self):
        """What the optimiser remembers of every weight: lists of variables."""
        kept = [getattr(self.optimizer, name) for name in updates.slot_names(self.rule)]
        return [[each[self.optimizer._get_variable_index(v)] for v in self.trainable] for each in kept]

    def begin(self):
        """Let the variables look into flat vectors, and make the update rule that works on them."""
        flat = Flat(self.torch, [tuple(variable.shape) for variable in self.trainable])
        self._shared = [Shared(flat, self.trainable), *(Shared(flat, slot) for slot in self.slots())]
        slots = [shared.vector for shared in self._shared[1:]]
        gradient = flat.vector(self._shared[0].vector)
        views = flat.views(gradient)
        for tensor, view in zip(self._shared[0].tensors, views):
            tensor.grad = view
        numbers = self.rule["numbers"]
        update = updates.Update(
            self.torch, self.rule, numbers, self._shared[0].vector, gradient, slots, flat.bounds
        )
        self.step = Step(self.engine, self.weights, gradient, views)
        if self.held.sample_weight is None:
            self.step.try_by_hand(self.held.x[: self.batch], self.held.targets[: self.batch])
        if self.rule["kind"] == "Nadam":
            update.carried = float(self.optimizer._u_product.value.detach())
        self.update = update

    def end(self):
        """The variables get their own memory back."""
        for tensor in self._shared[0].tensors:
            tensor.grad = None
        for shared in self._shared:
            shared.release()

    def rates(self, first, count):
        """Learning rates of the steps of an epoch."""
        rate = self.optimizer._learning_rate
        if callable(rate):
            return [float(rate(step)) for step in range(first, first + count)]
        return [float(rate.value)] * count

    def epoch(self, done):
        """One epoch after `done` steps: its losses, rates, predictions, and the order of its samples."""
        torch, held, batch = self.torch, self.held, self.batch
        order = held.order.begin()
        x, y, weighted = (_in_order(part, order) for part in (held.x, held.targets, held.sample_weight))
        count = self.steps if self.rows.left is None else min(self.steps, self.rows.left)
        rates = self.rates(done, count)
        y = self.step.targets(y)
        losses, seen = [], []
        for number in range(count):
            part = slice(number * batch, (number + 1) * batch)
            loss, predicted = self.step(x[part], y[part], None if weighted is None else weighted[part])
            with torch.no_grad():
                self.update(rates[number], done + number + 1)
            losses.append(loss)
            seen.append(predicted)
        held.order.end()
        self.optimizer._iterations.assign(done + count)
        if self.rule["kind"] == "Nadam":
            self.optimizer._u_product.assign(self.update.carried)
        return torch.stack(losses), rates, torch.cat(seen), order

    def validated(self, held):
        """The loss and the predictions of an evaluation."""
        if held.targets is None:
            held.targets = self.engine.targets(held.y, self.weights, held.x)
        held.order.begin()
        found = self.engine.evaluate(self.weights, held.x, held.targets, held.sample_weight)
        held.order.end()
        return found

    def logs_of_epoch(self, losses, predicted, order):
        """What Keras's own metrics say of all predictions of an epoch."""
        held, batch, count = self.held, self.batch, predicted.shape[0]
        sizes = self.torch.full_like(losses, batch)
        sizes[-1] = count - batch * (len(losses) - 1)
        mean = (losses * sizes).sum() / count
        y, weighted = (_in_order(part, order) for part in (held.y, held.sample_weight))
        cut = None if weighted is None else weighted[:count]
        return self.logs.of(mean, count, y[:count], predicted, cut)


def evaluated(training, source, held):
    """The logs of an evaluation."""
    loss, predicted = source.validated(held)
    return training.logs.of(loss, held.x.shape[0], held.y, predicted, held.sample_weight)


def run(training, source, callbacks, epochs, validation, should_validate):
    """The epochs of a `fit`, from its first callback to its last. `source` trains: the training itself, or
    what plays back how it was trained elsewhere.
    """
    model, rows = training.model, training.rows
    source.begin()
    logs = {}
    try:
        model.stop_training = False
        callbacks.on_train_begin()
        done = int(training.optimizer._iterations.value.detach())
        for epoch in epochs:
            callbacks.on_epoch_begin(epoch)
            began = time.perf_counter()
            losses, rates, predicted, order = source.epoch(done)
            done += len(rates)
            rows.write(losses.tolist(), rates, began)
            rows.stop_when_spent()
            logs = training.logs_of_epoch(losses, predicted, order)
            if validation is not None and should_validate(epoch):
                callbacks.on_test_begin()
                found = evaluated(training, source, validation())
                callbacks.on_test_end(found)
                logs.update({f"val_{name}": value for name, value in found.items()})
            callbacks.on_epoch_end(epoch, logs)
            if model.stop_training:
                break
    finally:
        source.end()
        model.eval()
    callbacks.on_train_end(logs=logs)
    return model.history


def check_callbacks(keras, callbacks):
    """Callbacks that look at batches need the batches one by one."""
    base = keras.callbacks.Callback
    quiet = (keras.callbacks.ProgbarLogger, keras.callbacks.History)
    for callback in callbacks:
        if type(callback) in quiet:
            continue
        if type(callback) is keras.callbacks.ModelCheckpoint and callback.save_freq == "epoch":
            continue
        for name in _BATCH_HOOKS:
            if getattr(type(callback), name, None) is not getattr(base, name) or name in vars(callback):
                raise Refused(f"the callback {type(callback).__name__} looks at batches")


def _in_order(tensor, order):
    return tensor if tensor is None or order is None else tensor.index_select(0, order.to(tensor.device))
