"""Knowledge distillation as a Keras model with its own compute_loss: frozen teacher, small student."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(44)


def mlp(hidden, name):
    return keras.Sequential(
        [keras.Input((64,))] + [layers.Dense(h, activation="relu") for h in hidden] + [layers.Dense(10)], name=name
    )


class Distiller(keras.Model):
    """Student sees hard labels and the teacher's softened probabilities."""

    def __init__(self, student, teacher, alpha=0.3, temperature=4.0):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.teacher.trainable = False
        self.alpha, self.temperature = alpha, temperature
        self.hard = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.soft = keras.losses.KLDivergence()

    def call(self, x, training=False):
        return self.student(x, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        teacher_logits = ops.stop_gradient(self.teacher(x, training=False))
        hard = self.hard(y, y_pred)
        soft = self.soft(
            ops.softmax(teacher_logits / self.temperature),
            ops.softmax(y_pred / self.temperature),
        ) * self.temperature**2
        return self.alpha * hard + (1 - self.alpha) * soft


def main():
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype("float32")
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, stratify=y, random_state=44)

    teacher = mlp([128, 128], "teacher")
    teacher.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    teacher.fit(x_train, y_train, epochs=12, batch_size=64, verbose=0)
    print("teacher test accuracy %.4f" % teacher.evaluate(x_test, y_test, verbose=0)[1])

    student = mlp([16], "student")
    distiller = Distiller(student, teacher)
    distiller.compile(optimizer=keras.optimizers.Adam(5e-3), metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")])
    history = distiller.fit(x_train, y_train, validation_data=(x_test, y_test), epochs=20, batch_size=64, verbose=2)
    print("student test accuracy %.4f with %d weights against %d" % (
        history.history["val_acc"][-1], student.count_params(), teacher.count_params()))


if __name__ == "__main__":
    main()
