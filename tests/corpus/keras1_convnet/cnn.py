from __future__ import print_function
import numpy as np
np.random.seed(1337)  # for reproducibility

from keras.models import Sequential
from keras.layers.core import Dense, Dropout, Activation, Flatten
from keras.layers.convolutional import Convolution2D, MaxPooling2D
from keras.optimizers import SGD
from keras.utils import np_utils

batch_size = 20
nb_classes = 3
nb_epoch = 3
img_rows, img_cols = 10, 10
nb_filters = 8
nb_conv = 3

kind = np.random.randint(0, nb_classes, 200)
r, c = np.mgrid[0:img_rows, 0:img_cols]
patterns = np.stack([r % 2, c % 2, (r + c) % 2]) * 255
X = (patterns[kind] + np.random.normal(0, 40, (200, img_rows, img_cols))).reshape(200, img_rows, img_cols, 1)
X_train, X_test = X[:160].astype('float32'), X[160:].astype('float32')
X_train /= 255
X_test /= 255
Y_train = np_utils.to_categorical(kind[:160], nb_classes)
Y_test = np_utils.to_categorical(kind[160:], nb_classes)

model = Sequential()
model.add(Convolution2D(nb_filters, nb_conv, nb_conv, border_mode='valid', input_shape=(img_rows, img_cols, 1)))
model.add(Activation('relu'))
model.add(Convolution2D(nb_filters, nb_conv, nb_conv))
model.add(Activation('relu'))
model.add(MaxPooling2D(pool_size=(2, 2)))
model.add(Dropout(0.25))
model.add(Flatten())
model.add(Dense(32, init='he_normal'))
model.add(Activation('relu'))
model.add(Dropout(0.5))
model.add(Dense(nb_classes))
model.add(Activation('softmax'))

sgd = SGD(lr=0.05, decay=1e-6, momentum=0.9, nesterov=True)
model.compile(loss='categorical_crossentropy', optimizer=sgd, metrics=['accuracy'])
history = model.fit(X_train, Y_train, batch_size=batch_size, nb_epoch=nb_epoch,
                    verbose=0, validation_data=(X_test, Y_test))
score = model.evaluate(X_test, Y_test, verbose=0)
print('Test score: %.4f' % score[0])
print('Test accuracy: %.4f' % history.history['val_acc'][-1])
