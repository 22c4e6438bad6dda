import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import EarlyStopping
from tensorflow.keras.layers import Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam
from tensorflow.keras.utils import to_categorical

np.random.seed(0)
tf.random.set_seed(0)

labels = np.random.randint(0, 3, 240)
bars = np.zeros((3, 9, 9))
bars[0, 4, :] = 255; bars[1, :, 4] = 255; bars[2] = 255 * np.eye(9)
images = np.clip(bars[labels] + np.random.normal(0, 30, (240, 9, 9)), 0, 255)
x_train, x_test = images[:200, ..., None] / 255.0, images[200:, ..., None] / 255.0
y_train, y_test = to_categorical(labels[:200], 3), to_categorical(labels[200:], 3)

model = Sequential([
    Conv2D(6, (3, 3), activation='relu', input_shape=(9, 9, 1)),
    MaxPooling2D((2, 2)),
    Flatten(),
    Dense(20, activation='relu'),
    Dropout(0.25),
    Dense(3, activation='softmax')
])
model.compile(optimizer=Adam(lr=0.005), loss='categorical_crossentropy', metrics=['accuracy'])
history = model.fit(x_train, y_train, batch_size=20, epochs=3, verbose=0,
                    validation_data=(x_test, y_test),
                    callbacks=[EarlyStopping(patience=5)])
print('val_accuracy:', round(history.history['val_accuracy'][-1], 4))
