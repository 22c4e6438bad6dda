import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)

num_classes = 4
input_shape = (10, 10, 1)

# four textures
kinds = np.random.randint(0, num_classes, 300)
r, c = np.mgrid[0:10, 0:10]
textures = np.stack([r % 2, c % 2, (r + c) % 2, (r // 2 + c // 2) % 2])
x = (textures[kinds] + 0.4 * np.random.randn(300, 10, 10))[..., None].astype("float32")
y = keras.utils.to_categorical(kinds, num_classes)

model = keras.Sequential(
    [
        keras.Input(shape=input_shape),
        layers.Conv2D(8, kernel_size=(3, 3), activation="relu"),
        layers.MaxPooling2D(pool_size=(2, 2)),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.4),
        layers.Dense(num_classes, activation="softmax"),
    ]
)

batch_size = 30
epochs = 3

model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x[:240], y[:240], batch_size=batch_size, epochs=epochs, validation_split=0.1, verbose=0)

score = model.evaluate(x[240:], y[240:], verbose=0)
print("Test loss: %.4f" % score[0])
print("Test accuracy: %.4f" % score[1])
