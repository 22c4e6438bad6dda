"""One batch with a Keras model, on any engine: a clone with the same weights, the model's own loss."""

from typing import Any

from reenact.errors import InputError
from reenact.pytest.one_batch import Trained


class KerasLearner:
    """A Keras model with its batch."""

    def __init__(self, model: Any, batch: Any, loss: Any) -> None:
        self._model = model
        self._loss = loss if loss is not None else getattr(model, "loss", None)
        if not self._loss:
            raise InputError(
                f"{type(model).__name__} has no loss.", next_step="Compile it, or give loss='mse'."
            )
        if not (isinstance(batch, tuple | list) and len(batch) == 2):
            raise InputError("A batch is a pair: inputs and targets. Received: " + type(batch).__name__ + ".")
        self._inputs, self._targets = batch
        self.can_zero = "float" in str(getattr(self._inputs, "dtype", ""))

    def train(self, rate: float, steps: int, *, zeroed: bool = False) -> Trained:
        import keras

        inputs = self._inputs * 0 if zeroed else self._inputs
        model = self._copied(keras)
        model.compile(optimizer=keras.optimizers.Adam(rate), loss=self._loss)
        run = Trained(rate)
        for _ in range(steps):
            # The loss that a step tells is a mean over all steps since the last reset.
            model.reset_metrics()
            logs = model.train_on_batch(inputs, self._targets)
            run.losses.append(float(logs[0] if isinstance(logs, list) else logs))
            if run.over and not (zeroed and run.learnt):
                break
        return run

    def _copied(self, keras: Any) -> Any:
        if not self._model.built:
            raise InputError(
                f"{type(self._model).__name__} has no weights yet.", next_step="Call it once on the inputs."
            )
        try:
            model = keras.models.clone_model(self._model)
            if not model.built:
                model(self._inputs)
            model.set_weights(self._model.get_weights())
        except Exception as error:
            raise InputError(f"{type(self._model).__name__} cannot be cloned: {error}.") from error
        return model
