import keras
import numpy as np
from keras import initializers
from keras.callbacks import EarlyStopping, ReduceLROnPlateau
from keras.layers import Dense, Dropout, Input
from keras.models import Sequential
from keras.regularizers import l1_l2, l2

keras.utils.set_random_seed(3)

SETTINGS = {
    "units": [24, 12],
    "initializer": "he_normal",
    "learning_rate": 0.004,
    "batch_size": 16,
    "epochs": 12,
}

features = np.random.uniform(-1, 1, (240, 10))
weights = np.linspace(-1, 1, 10)
target = features @ weights + 0.3 * features[:, 0] ** 2

model = Sequential([Input((10,))])
for units in SETTINGS["units"]:
    model.add(
        Dense(
            units,
            activation="relu",
            kernel_initializer=SETTINGS["initializer"],
            bias_initializer=initializers.Constant(0.01),
            kernel_regularizer=l2(1e-4),
        )
    )
model.add(Dropout(rate=0.05))
model.add(Dense(1, activation="linear", kernel_initializer="glorot_uniform", kernel_regularizer=l1_l2(l1=1e-5, l2=1e-5)))

model.compile(loss="mean_squared_error", optimizer=keras.optimizers.RMSprop(learning_rate=SETTINGS["learning_rate"], weight_decay=1e-6))
callbacks = [
    ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2, min_lr=1e-5),
    EarlyStopping(monitor="val_loss", patience=50, restore_best_weights=True),
]
history = model.fit(
    features, target,
    batch_size=SETTINGS["batch_size"],
    epochs=SETTINGS["epochs"],
    validation_split=0.2,
    callbacks=callbacks,
    verbose=0,
)
print(f"best val_loss: {min(history.history['val_loss']):.5f}")
