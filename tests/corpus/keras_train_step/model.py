import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch


class CustomModel(keras.Model):
    """Own train_step on the torch backend."""

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        y_pred = self(x, training=True)
        loss = self.compute_loss(y=y, y_pred=y_pred)
        loss.backward()
        trainable_weights = [v for v in self.trainable_weights]
        gradients = [v.value.grad for v in trainable_weights]
        with torch.no_grad():
            self.optimizer.apply(gradients, trainable_weights)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


keras.utils.set_random_seed(23)
inputs = keras.Input(shape=(16,))
hidden = keras.layers.Dense(32)(inputs)
hidden = keras.layers.LeakyReLU(negative_slope=0.1)(hidden)
outputs = keras.layers.Dense(1)(hidden)
model = CustomModel(inputs, outputs)
model.compile(optimizer=keras.optimizers.Nadam(learning_rate=0.03), loss="mae", metrics=["mse"])

x = np.random.random((200, 16)).astype("float32")
y = x[:, :4].sum(axis=1, keepdims=True) - 2
history = model.fit(x, y, batch_size=40, epochs=8, verbose=0)
print("mse", "%.4f" % history.history["mse"][-1])
