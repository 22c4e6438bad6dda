import numpy as np
import keras
from keras.layers import Dense, Input, SimpleRNN

keras.utils.set_random_seed(41)

EPOCHS = 8; BATCH = 20
seq = np.random.rand(200, 6, 1)
total = (seq.sum(axis=(1, 2)) > 3.0).astype("int32")

inp = Input(shape=(6, 1))
net = SimpleRNN(10, activation="tanh", recurrent_initializer="orthogonal")(inp)
out = Dense(1, activation="sigmoid")(net)
model = keras.Model(inp, out)
model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
model.optimizer.learning_rate = 0.5

for epoch in range(EPOCHS):
    order = np.random.permutation(200)
    for start in range(0, 200, BATCH):
        rows = order[start:start + BATCH]
        loss, acc = model.train_on_batch(seq[rows], total[rows])
    print("epoch %d: batch loss %.4f, batch accuracy %.4f" % (epoch, loss, acc))
print("test", "accuracy: %.4f" % model.test_on_batch(seq, total)[1])
