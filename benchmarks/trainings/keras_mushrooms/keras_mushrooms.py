"""Edible or not: a binary Keras classifier over categorical features."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.model_selection import train_test_split

SEED = 8
CARDINALITY = {"cap": 6, "odour": 9, "gill": 4, "colour": 10, "habitat": 7, "ring": 3}


def gather(n):
    rng = np.random.default_rng(SEED)
    table = {name: rng.integers(0, k, n) for name, k in CARDINALITY.items()}
    poisonous = (
        ((table["odour"] >= 6) & (table["colour"] < 7))
        | ((table["gill"] == 2) & (table["ring"] == 1))
        | ((table["cap"] == 5) & (table["habitat"] > 3))
    )
    flip = rng.random(n) < 0.02
    return table, (poisonous ^ flip).astype("float32")


def one_hot(table):
    return np.concatenate([np.eye(k, dtype="float32")[table[name]] for name, k in CARDINALITY.items()], axis=1)


def make_classifier(n_inputs):
    inputs = keras.Input(shape=(n_inputs,))
    x = layers.Dense(48, activation="relu")(inputs)
    x = layers.Dropout(0.2)(x)
    x = layers.Dense(24, activation="relu")(x)
    outputs = layers.Dense(1, activation="softmax")(x)
    return keras.Model(inputs, outputs)


def main():
    keras.utils.set_random_seed(SEED)
    table, label = gather(3500)
    x = one_hot(table)
    x_train, x_test, y_train, y_test = train_test_split(x, label, test_size=0.2, random_state=SEED, stratify=label)
    print(f"{len(x_train)} to train on, poisonous share {y_train.mean():.3f}")
    model = make_classifier(x.shape[1])
    model.compile(
        optimizer="adam",
        loss="binary_crossentropy",
        metrics=["accuracy", keras.metrics.AUC(name="auc")],
    )
    history = model.fit(
        x_train,
        y_train,
        validation_split=0.1,
        epochs=8,
        batch_size=64,
        verbose=2,
        callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=10, restore_best_weights=True)],
    )
    scores = model.evaluate(x_test, y_test, verbose=0, return_dict=True)
    print("best validation accuracy", max(history.history["val_accuracy"]))
    print({k: round(float(v), 4) for k, v in scores.items()})
    sample = model.predict(x_test[:5], verbose=0).ravel()
    print("probabilities of the first five:", np.round(sample, 3))


if __name__ == "__main__":
    main()
