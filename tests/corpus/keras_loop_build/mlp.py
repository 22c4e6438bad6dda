import keras
import numpy as np


def make_model(
    n_layers: int = 3,
    units: int = 18,
    activation: str = "relu",
    dropout: float = 0.0,
    optimizer: str = "adam",
    learning_rate: float = 0.003,
):
    model = keras.Sequential(name="tower")
    model.add(keras.layers.InputLayer(shape=(7,)))
    for i in range(n_layers):
        model.add(keras.layers.Dense(units, activation=activation, name=f"dense_{i}_of_3"))
        if dropout > 0:
            model.add(keras.layers.Dropout(dropout))
    model.add(keras.layers.Dense(5, activation="sigmoid", name="tags"))
    opt = keras.optimizers.get(optimizer)
    opt.learning_rate = learning_rate
    model.compile(optimizer=opt, loss=keras.losses.binary_crossentropy, metrics=["binary_accuracy"])
    return model


if __name__ == "__main__":
    keras.utils.set_random_seed(90)
    x = np.random.randn(210, 7)
    tags = (x[:, :5] + 0.2 * x[:, 2:7] > 0).astype("float32")
    model = make_model(n_layers=2, activation="swish")
    history = model.fit(x, tags, epochs=4, batch_size=21, shuffle=False, verbose=0)
    print(f"binary accuracy after 4 epochs (lr=0.003): {history.history['binary_accuracy'][-1]:.4f}")
