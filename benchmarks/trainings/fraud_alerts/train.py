import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, classification_report
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

keras.utils.set_random_seed(77)

FEATURES = ["amount", "hour", "age_days", "n_last_day", "distance", "merchant_risk", "velocity", "device_score"]


def load_transactions(n=4000, fraud_rate=0.05):
    rng = np.random.default_rng(77)
    fraud = (rng.random(n) < fraud_rate).astype(int)
    values = rng.normal(size=(n, len(FEATURES)))
    shift = np.array([0.5, 0.0, -0.4, 0.4, 0.3, 0.5, 0.2, -0.3])
    values += fraud[:, None] * shift
    values[:, 0] = np.exp(values[:, 0] + 3)
    return values.astype("float32"), fraud.astype("float32")


def balance(x, y):
    """Upsample the minority class to the size of the majority."""
    legit, fraud = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    fraud_up = resample(fraud, replace=True, n_samples=len(legit), random_state=77)
    keep = np.random.default_rng(77).permutation(np.concatenate([legit, fraud_up]))
    return x[keep], y[keep]


def prepare(x, y):
    x = x.copy()
    x[:, FEATURES.index("amount")] = np.log(x[:, FEATURES.index("amount")])
    x, y = balance(x, y)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=77, stratify=y)
    scaler = StandardScaler().fit(x_train)
    return scaler.transform(x_train), scaler.transform(x_test), y_train, y_test


def build(n_features):
    model = keras.Sequential(
        [
            layers.Input((n_features,)),
            layers.Dense(128, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss="binary_crossentropy",
        metrics=["accuracy", keras.metrics.Recall(name="recall")],
    )
    return model


if __name__ == "__main__":
    x_train, x_test, y_train, y_test = prepare(*load_transactions())
    print("train", x_train.shape, "test", x_test.shape)
    model = build(x_train.shape[1])
    model.fit(x_train, y_train, validation_data=(x_test, y_test), epochs=10, batch_size=256, verbose=2)
    prob = model.predict(x_test, verbose=0).ravel()
    print("average precision", round(average_precision_score(y_test, prob), 3))
    print(classification_report(y_test, prob > 0.5, target_names=["legit", "fraud"], digits=3))
