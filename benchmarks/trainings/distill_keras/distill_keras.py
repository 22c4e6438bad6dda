"""Distil a wide teacher into a narrow student with an own train_step (Keras 3, torch backend).

The teacher sits inside the student's trainer with trainable=False. Soft targets at temperature 4 dominate the loss,
so the loss levels off well above zero: it cannot fall below the entropy of the softened teacher.
"""
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Distiller(keras.Model):
    def __init__(self, student, teacher, temperature=4.0, hard=0.1):
        super().__init__()
        self.student = student
        self.teacher = teacher
        self.teacher.trainable = False
        self.temperature, self.hard = temperature, hard
        self.tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    @property
    def metrics(self):
        return [self.tracker, self.acc]

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        with torch.no_grad():
            soft = torch.softmax(self.teacher(x, training=False) / self.temperature, dim=-1)
        self.zero_grad()
        logits = self.student(x, training=True)
        kd = -(soft * F.log_softmax(logits / self.temperature, dim=-1)).sum(-1).mean()
        ce = F.cross_entropy(logits, y.long())
        loss = (1 - self.hard) * kd + self.hard * ce
        loss.backward()
        weights = self.student.trainable_weights
        grads = [w.value.grad for w in weights]
        with torch.no_grad():
            self.optimizer.apply(grads, weights)
        self.tracker.update_state(loss.detach())
        self.acc.update_state(y, logits.detach())
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self.student(x, training=False)
        self.acc.update_state(y, logits)
        return {"accuracy": self.acc.result()}


def mlp(width, depth, name):
    return keras.Sequential([keras.Input((64,))] + [keras.layers.Dense(width, activation="relu") for _ in range(depth)]
                            + [keras.layers.Dense(10)], name=name)


def main():
    keras.utils.set_random_seed(7)
    d = load_digits()
    x = (d.data / 16 - 0.3).astype("float32")
    xtr, xte, ytr, yte = train_test_split(x, d.target.astype("int64"), test_size=0.3, random_state=1, stratify=d.target)
    teacher = mlp(128, 2, "teacher")
    teacher.compile(keras.optimizers.Adam(2e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    teacher.fit(xtr, ytr, batch_size=64, epochs=10, verbose=0)
    print(f"teacher {teacher.evaluate(xte, yte, verbose=0)[1]:.3f}")
    model = Distiller(mlp(16, 1, "student"), teacher)
    model.compile(optimizer=keras.optimizers.Adam(1e-2))
    h = model.fit(xtr, ytr, batch_size=64, epochs=15, verbose=0)
    print("loss by epoch", [round(float(v), 3) for v in h.history["loss"][::3]])
    res = model.evaluate(xte, yte, verbose=0, return_dict=True)
    print(f"student {float(res['accuracy']):.3f}, most common class {np.bincount(yte).max() / len(yte):.3f}")


if __name__ == "__main__":
    main()
