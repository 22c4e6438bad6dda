from keras.models import Sequential
from keras.layers import Dense

model = Sequential()
model.add(Dense(8, input_dim=3, activation='relu'))
model.add(Dense(1))
model.compile(loss='mse', optimizer='sgd')
print "compiled, lr = 0.01"
for i in xrange(3):
    print i,
