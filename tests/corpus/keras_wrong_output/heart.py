# A patient is ill or not; the model was put together from three tutorials.
import numpy as np
import keras
from keras.models import Sequential
from keras.layers import Dense

keras.utils.set_random_seed(1)
age = np.random.randint(30, 80, 200)
pressure = np.random.randint(90, 190, 200)
cholesterol = np.random.randint(120, 400, 200)
X = np.column_stack([age, pressure, cholesterol])
y = (age / 80 + pressure / 190 + cholesterol / 400 > 2.1).astype(int)

model = Sequential()
model.add(Dense(16, input_dim=3, kernel_initializer='zeros', activation='relu'))
model.add(Dense(16, activation='relu'))
model.add(Dense(1, activation='softmax'))
model.compile(loss='mean_squared_error', optimizer='sgd', metrics=['accuracy'])
model.fit(X, y, epochs=3, batch_size=10, verbose=0)
print('accuracy: %.3f' % model.evaluate(X, y, verbose=0)[1])
