# 13C chemical shifts from the 2D graph, dense padded batches, Keras
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np
from keras import layers, ops

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MAX_ATOMS = 24
ELEMENTS = ["C", "N", "O", "F", "Cl"]
VALENCE = [4, 3, 2, 1, 1]
ALPHA = np.array([9.0, 28.0, 46.0, 68.0, 31.0])      # additive increments, ppm
BETA = np.array([9.0, 11.0, 8.0, 6.5, 10.0])
GAMMA = np.array([-2.5, -4.5, -5.5, -6.5, -4.8])

# %% molecules


def random_molecule(n):
    kind, free, edges = [0], [4], []
    while len(kind) < n:
        sites = [i for i, f in enumerate(free) if f > 0]
        i = int(rng.choice(sites))
        k = int(rng.choice(5, p=[0.66, 0.11, 0.13, 0.05, 0.05])) if sum(free) > 1 else 0
        order = 2 if k in (0, 2) and free[i] >= 2 and sum(free) > 2 and rng.random() < 0.2 else 1
        kind.append(k)
        free[i] -= order
        free.append(VALENCE[k] - order)
        edges.append((i, len(kind) - 1, order))
    return np.array(kind), edges


def shifts(kind, edges):
    n = len(kind)
    adj = np.zeros((n, n))
    double = np.zeros(n, int)
    carbonyl = np.zeros(n, int)
    for i, j, order in edges:
        adj[i, j] = adj[j, i] = 1
        if order == 2:
            for a, b in ((i, j), (j, i)):
                double[a] = 1
                carbonyl[a] |= int(kind[b] == 2)
    two = ((adj @ adj) > 0) & (adj == 0) & ~np.eye(n, dtype=bool)
    three = ((adj @ adj @ adj) > 0) & (adj == 0) & ~two & ~np.eye(n, dtype=bool)
    delta = -2.0 + adj @ ALPHA[kind] + two @ BETA[kind] + three @ GAMMA[kind]
    delta += np.where(carbonyl == 1, 95.0, np.where(double == 1, 85.0, 0.0))
    return delta + rng.normal(0, 1.0, n)


def build(n_mols):
    x = np.zeros((n_mols, MAX_ATOMS, len(ELEMENTS) + 1), "float32")
    a = np.zeros((n_mols, 2, MAX_ATOMS, MAX_ATOMS), "float32")     # single, double bonds
    y = np.zeros((n_mols, MAX_ATOMS), "float32")
    carbon = np.zeros((n_mols, MAX_ATOMS), "float32")
    for m in range(n_mols):
        kind, edges = random_molecule(int(rng.integers(5, MAX_ATOMS + 1)))
        n = len(kind)
        x[m, np.arange(n), kind] = 1
        x[m, :n, -1] = 1
        for i, j, order in edges:
            a[m, order - 1, i, j] = a[m, order - 1, j, i] = 1
        carbon[m, :n] = kind == 0
        y[m, :n] = shifts(kind, edges) * carbon[m, :n]
    return x, a, carbon, y[..., None]


n_train, n_val, n_test = 800, 150, 300
x, a, carbon, y = build(n_train + n_val + n_test)
tr = slice(0, n_train)
va = slice(n_train, n_train + n_val)
te = slice(n_train + n_val, None)
ppm_mean = float(y[tr][carbon[tr] > 0].mean())
ppm_std = float(y[tr][carbon[tr] > 0].std())
print(f"{n_train} train / {n_val} val / {n_test} test molecules, "
      f"{int(carbon[te].sum())} test carbons, shifts {ppm_mean:.1f} +- {ppm_std:.1f} ppm")

# %% network


@keras.saving.register_keras_serializable()
class BondConv(layers.Layer):
    """One round of messages with separate weights per bond order."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units
        self.self_dense = layers.Dense(units)
        self.bond_dense = [layers.Dense(units, use_bias=False) for _ in range(2)]
        self.norm = layers.LayerNormalization()

    def call(self, h, adj):
        out = self.self_dense(h)
        for b, dense in enumerate(self.bond_dense):
            out = out + ops.matmul(adj[:, b], dense(h))
        return ops.relu(self.norm(out))


atoms_in = keras.Input((MAX_ATOMS, x.shape[-1]), name="atoms")
adj_in = keras.Input((2, MAX_ATOMS, MAX_ATOMS), name="adjacency")
carbon_in = keras.Input((MAX_ATOMS,), name="carbon")
h = layers.Dense(64, activation="relu")(atoms_in)
for _ in range(4):
    h = layers.Add()([h, BondConv(64)(h, adj_in)])
h = layers.Dense(64, activation="relu")(layers.Concatenate()([h, atoms_in]))
shift = layers.Dense(1)(h)
shift = layers.Rescaling(ppm_std, offset=ppm_mean)(shift)
shift = layers.Multiply(name="ppm")([shift, layers.Reshape((MAX_ATOMS, 1))(carbon_in)])
model = keras.Model([atoms_in, adj_in, carbon_in], shift)

# %% training
EPOCHS, BATCH = 10, 32
schedule = keras.optimizers.schedules.CosineDecay(3e-3, EPOCHS * (n_train // BATCH + 1))
model.compile(
    optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0),
    loss=keras.losses.Huber(delta=5.0),
    weighted_metrics=[keras.metrics.MeanAbsoluteError(name="mae"),
                      keras.metrics.RootMeanSquaredError(name="rmse")],
)
history = model.fit(
    [x[tr], a[tr], carbon[tr]], y[tr], sample_weight=carbon[tr],
    validation_data=([x[va], a[va], carbon[va]], y[va], carbon[va]),
    epochs=EPOCHS, batch_size=BATCH, verbose=0,
)
for e in range(0, EPOCHS, 3):
    print(f"epoch {e + 1:2d}  train MAE {history.history['mae'][e]:.2f} ppm  val MAE {history.history['val_mae'][e]:.2f} ppm")

# %% test
scores = model.evaluate([x[te], a[te], carbon[te]], y[te], sample_weight=carbon[te],
                        batch_size=100, verbose=0, return_dict=True)
print(f"test MAE {scores['mae']:.2f} ppm   RMSE {scores['rmse']:.2f} ppm")
pred = model.predict([x[te], a[te], carbon[te]], verbose=0)
for m in range(2):
    idx = np.flatnonzero(carbon[te][m])[:5]
    print("molecule", m, " ".join(f"{p:.1f}/{t:.1f}" for p, t in zip(pred[m, idx, 0], y[te][m, idx, 0])))
