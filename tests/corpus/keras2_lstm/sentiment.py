import numpy as np
from keras.layers import LSTM, Dense, Embedding, SpatialDropout1D
from keras.layers.normalization import BatchNormalization
from keras.models import Sequential
from keras.optimizers import Adam
from keras.preprocessing.sequence import pad_sequences
from keras import backend as K

np.random.seed(7)
max_features = 60
maxlen = 12

reviews = [list(np.random.randint(1, max_features, np.random.randint(5, maxlen + 4))) for _ in range(180)]
mood = np.array([int(np.mean(np.array(r[-maxlen:]) < 25) > 0.4) for r in reviews])
X = pad_sequences(reviews, maxlen=maxlen)

model = Sequential()
model.add(Embedding(max_features, 16, input_length=maxlen))
model.add(SpatialDropout1D(0.1))
model.add(LSTM(14, dropout=0.1, recurrent_dropout=0.0))
model.add(BatchNormalization())
model.add(Dense(1, activation='sigmoid'))
model.compile(loss='binary_crossentropy', optimizer=Adam(lr=0.01), metrics=['acc'])
print('lr is', round(float(K.get_value(model.optimizer.lr)), 6))

hist = model.fit(X, mood, epochs=3, batch_size=18, validation_split=0.2, verbose=0)
print('val_acc: %.4f' % hist.history['val_acc'][-1])
