import numpy as np
import tensorflow as tf

tf.random.set_seed(12)
rng = np.random.RandomState(12)

X = rng.uniform(0, 1, size=(200, 4)).astype(np.float32)
Y = (np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]).astype(np.float32)

inputs = tf.keras.Input(shape=(4,))
x = tf.keras.layers.Dense(24, activation=tf.nn.relu, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.05))(inputs)
x = tf.keras.layers.Dense(24)(x)
x = tf.keras.layers.Activation('relu')(x)
outputs = tf.keras.layers.Dense(1, activation='sigmoid')(x)
model = tf.keras.Model(inputs=inputs, outputs=outputs)

model.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=0.05, momentum=0.5),
              loss=tf.keras.losses.MeanSquaredError(),
              metrics=['mae'])
hist = model.fit(X, Y, epochs=5, batch_size=25, verbose=0)
print('mae %.4f' % hist.history['mae'][-1])
