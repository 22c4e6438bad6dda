"""Newswire topics: a multi-layer perceptron on bags of words."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from dataset import load_newswire
from keras.layers import Dense, Dropout
from keras.models import Sequential

MAX_WORDS = 10000
BATCH_SIZE = 32
EPOCHS = 3


def to_matrix(texts):
    matrix = np.zeros((len(texts), MAX_WORDS), dtype="float32")
    for row, words in enumerate(texts):
        matrix[row, words[words < MAX_WORDS]] = 1.0
    return matrix


(texts, topics), (texts_test, topics_test) = load_newswire()
num_classes = int(topics.max()) + 1
x, x_test = to_matrix(texts), to_matrix(texts_test)
y = keras.utils.to_categorical(topics, num_classes)
y_test = keras.utils.to_categorical(topics_test, num_classes)

order = np.random.RandomState(42).permutation(len(x))
held_out = -(-len(x) // 5)
x_val, y_val = x[order[:held_out]], y[order[:held_out]]
x_train, y_train = x[order[held_out:]], y[order[held_out:]]

model = Sequential()
model.add(keras.Input(shape=(MAX_WORDS,)))
model.add(Dense(512, activation="relu"))
model.add(Dropout(0.5))
model.add(Dense(num_classes))

model.compile(
    loss="categorical_crossentropy",
    optimizer=keras.optimizers.Adam(learning_rate=0.001),
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    batch_size=BATCH_SIZE,
    epochs=EPOCHS,
    verbose=2,
    validation_data=(x_val, y_val),
)

score = model.evaluate(x_test, y_test, batch_size=BATCH_SIZE, verbose=0)
print("Test loss:", score[0])
print("Test accuracy:", score[1])
