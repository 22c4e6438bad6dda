"""Programs written for Keras 1, Keras 2 and tf.keras train, one small program for each thing of
the past.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.probe.options import WatchOptions
from reenact.program.program import program_from_text
from reenact.program.training.framework import Framework, framework_of

pytestmark = pytest.mark.usefixtures("warm_python")

DATA = (
    "import numpy as np\nx = np.random.rand(12, 4).astype('float32')\ny = (x.sum(1) > "
    "2).astype('float32')\n"
)
END = (
    "model.compile(loss='mse', optimizer='sgd')\nmodel.fit(x, y, epochs=1, batch_size=4, "
    "verbose=0)\n"
)
KERAS = (
    f"{DATA}from keras.models import Sequential\nfrom keras.layers import Dense, Flatten, LSTM, "
    f"Reshape\n"
)
TF = f"import tensorflow as tf\n{DATA}"
PROGRAMS = {
    "batch_input_shape of a layer": f"""{KERAS}
model = Sequential([LSTM(3, batch_input_shape=(4, 4, 1), stateful=True), Dense(1)])
x = x[:, :, None]
{END}""",
    "all names of a module at once": f"""{DATA}from tensorflow.keras.models import *
from tensorflow.keras.layers import *
model = Sequential([Dense(3, input_shape=(4,)), Dense(1)])
{END}""",
    "inputs without a second dimension": f"""{TF}
model = tf.keras.models.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
x = x[:, 0]
{END}model.evaluate(x, y, verbose=0)
assert model.predict(x, verbose=0).shape == (12, 1)
""",
    "lists as inputs": f"""{KERAS}
model = Sequential([Dense(3, init='uniform', input_dim=4), Dense(1)])
x, y = x.tolist(), y.tolist()
{END}assert model.predict(x[:2]).shape == (2, 1)
""",
    "numpy numbers as units": f"""{KERAS}
model = Sequential([Dense(np.int64(3), init='uniform', input_dim=np.int32(4)), Dense(np.prod([1]))])
{END}""",
    "keras.models.Input": f"""{DATA}from keras.layers import Dense
from keras.models import Input, Model
inputs = Input(shape=(4,))
model = Model(input=inputs, output=Dense(1)(inputs))
{END}""",
    "np.float, np.int, np.bool": f"""{KERAS}
x, y = x.astype(np.float), y.astype(np.bool).astype(np.int)
assert isinstance(np.object, type)
model = Sequential([Dense(1, input_dim=4)])
{END}""",
    "merge and layers of Keras 1": f"""{KERAS}from keras.models import Model
from keras.layers import Input, merge, Convolution2D, TimeDistributedDense
from keras.regularizers import l1l2, activity_l2
given = Input(shape=(4,))
pictures = Convolution2D(2, 1, 1)(Reshape((2, 2, 1))(given))
steps = TimeDistributedDense(2)(Reshape((4, 1))(given))
both = merge([Flatten()(pictures), Flatten()(steps)], mode='concat')
wide = Dense(16, W_regularizer=l1l2(0.01, 0.01), activity_regularizer=activity_l2(0.01))
summed = merge([both, wide(both)])
model = Model(input=given, output=Dense(1)(summed))
{END}""",
    "K.function": f"""{KERAS}from keras import backend as K
model = Sequential([Dense(3, input_dim=4), Dense(1)])
{END}hidden = K.function([model.layers[0].input, K.learning_phase()], [model.layers[0].output])([x, 0])
assert hidden[0].shape == (12, 3), hidden
""",
    "logcosh": f"""{KERAS}
model = Sequential([Dense(3, input_dim=4), Dense(1)])
model.compile(loss='logcosh', optimizer='sgd')
model.fit(x, y, epochs=1, verbose=0)
""",
    "output_shape of a layer": f"""{KERAS}
model = Sequential([Dense(3, init='uniform', input_dim=4), Dense(1)])
assert model.layers[0].output_shape == (None, 3)
assert model.layers[1].input_shape == (None, 3)
assert model.output_shape == (None, 1)
{END}""",
    "a classifier of scikit-learn": f"""{KERAS}from keras.wrappers.scikit_learn import KerasClassifier
from sklearn.model_selection import cross_val_score

def build(width=3):
    model = Sequential([Dense(width, input_dim=4, activation='relu'), Dense(1, activation='sigmoid')])
    model.compile(loss='binary_crossentropy', optimizer='adam', metrics=['accuracy'])
    return model

model = KerasClassifier(build_fn=build, nb_epoch=2, width=5, verbose=0)
model.fit(x, y)
assert model.model.layers[0].units == 5
assert set(model.predict(x)) <= set(y)
assert model.predict_proba(x).shape == (12, 2)
assert 0 <= model.score(x, y) <= 1
assert len(cross_val_score(model, x, y, cv=2)) == 2
""",
    "a regressor of scikit-learn": f"""{KERAS}from keras.wrappers.scikit_learn import KerasRegressor
from sklearn.model_selection import GridSearchCV

def build(width=3):
    model = Sequential([Dense(width, input_dim=4), Dense(1)])
    model.compile(loss='mse', optimizer='adam')
    return model

regressor = KerasRegressor(build_fn=build, epochs=1, batch_size=4, verbose=0)
search = GridSearchCV(regressor, {{"width": [2, 3]}}, cv=2)
search.fit(x, y)
assert search.best_params_["width"] in (2, 3)
""",
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("what", PROGRAMS)
def test_it_trains(what: str, forks: Any) -> None:
    assert framework_of(program_from_text(PROGRAMS[what])) in (
        Framework.TF_KERAS,
        Framework.KERAS_OLD,
    )
    ran = forks.run(PROGRAMS[what], options=WatchOptions(Path("trace"), shim=True))
    assert ran.code == 0, ran.err[-2000:]
    assert ran.trace.step_count
