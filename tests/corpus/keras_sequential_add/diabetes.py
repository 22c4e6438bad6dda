'''Sequential model by add(), objects for optimizer and loss.'''
from keras.models import Sequential
from keras.layers import Activation, BatchNormalization, Dense, Dropout, Input
from keras.optimizers import SGD
from keras.losses import BinaryCrossentropy
from keras.utils import set_random_seed
import numpy as np

set_random_seed(8)

X = np.random.normal(size=(260, 8)).astype('float32')
Y = (X[:, 1] + 0.5 * X[:, 5] > 0).astype('float32')
X_train, X_test = X[:200], X[200:]
Y_train, Y_test = Y[:200], Y[200:]

# create model
model = Sequential()
model.add(Input((8,)))
model.add(Dense(12))
model.add(BatchNormalization(momentum=0.9))
model.add(Activation('relu'))
model.add(Dropout(0.2))
model.add(Dense(6, activation='tanh', name='narrow'))
model.add(Dense(1, activation='sigmoid'))

# compile model
opt = SGD(learning_rate=0.05, momentum=0.9, nesterov=True)
model.compile(loss=BinaryCrossentropy(), optimizer=opt, metrics=['accuracy'])

# fit the model
model.fit(X_train, Y_train, epochs=6, batch_size=10, shuffle=True, validation_data=(X_test, Y_test), verbose=0)

scores = model.evaluate(X_test, Y_test, verbose=0)
print('%s: %.2f%%' % ('accuracy', scores[1] * 100))
