"""Remaining life of wind turbine gearboxes after their first year, discrete hazards in Keras."""
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from fleet import (FEATURES, bin_edges, concordance, feature_table, hazard_targets, masked_hazard_loss,
                   simulate_fleet, survival_curve)

CONFIG = {"units": 6000, "bins": 12, "width": 48, "dropout": 0.1, "lr": 2e-3, "batch": 128, "epochs": 20}


def build_model(n_features, cfg):
    inputs = keras.Input((n_features,))
    h = keras.layers.Dense(cfg["width"], activation="gelu")(inputs)
    h = keras.layers.Dropout(cfg["dropout"])(h)
    h = keras.layers.Dense(cfg["width"], activation="gelu")(h)
    model = keras.Model(inputs, keras.layers.Dense(cfg["bins"])(h))
    model.compile(optimizer=keras.optimizers.Adam(cfg["lr"]), loss=masked_hazard_loss)
    return model


def main(seed):
    keras.utils.set_random_seed(seed)
    fleet = simulate_fleet(CONFIG["units"], seed)
    x, days, failed = feature_table(fleet)
    print(f"{len(x)} gearboxes at the landmark, {failed.mean():.0%} failed, {len(FEATURES)} features")

    rows = np.arange(len(x))
    fit_rows, test_rows = train_test_split(rows, test_size=0.25, random_state=seed, stratify=failed)
    fit_rows, valid_rows = train_test_split(fit_rows, test_size=0.2, random_state=seed, stratify=failed[fit_rows])
    scaler = StandardScaler().fit(x[fit_rows])
    z = scaler.transform(x)
    edges = bin_edges(days[fit_rows], failed[fit_rows], CONFIG["bins"])
    y = hazard_targets(days, failed, edges)

    model = build_model(z.shape[1], CONFIG)
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=5, restore_best_weights=True)
    history = model.fit(z[fit_rows], y[fit_rows], validation_data=(z[valid_rows], y[valid_rows]),
                        batch_size=CONFIG["batch"], epochs=CONFIG["epochs"], callbacks=[stop], verbose=0)
    for epoch in range(0, len(history.history["loss"]), 4):
        print(f"epoch {epoch + 1:2d}  loss {history.history['loss'][epoch]:.4f}"
              f"  val_loss {history.history['val_loss'][epoch]:.4f}")

    logits = model.predict(z[test_rows], verbose=0, batch_size=1024)
    curve = survival_curve(logits)
    width = np.diff(np.append(edges[:-1], days.max()))
    expected = (curve * width).sum(axis=1)
    print(f"test loss {model.evaluate(z[test_rows], y[test_rows], verbose=0):.4f}")
    print(f"test concordance {concordance(days[test_rows], failed[test_rows], expected):.4f}")
    middle = CONFIG["bins"] // 2
    print(f"mean survival to day {edges[middle]:.0f} after the landmark: {curve[:, middle - 1].mean():.3f}")
    return model, scaler


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
