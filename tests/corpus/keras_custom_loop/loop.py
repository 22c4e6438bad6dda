"""A loop of one's own around a Keras model: torch autograd, Keras optimizer."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import torch
from torch.utils.data import DataLoader, TensorDataset

keras.utils.set_random_seed(30)

hp = dict(batch_size=32, epochs=6, lr=2e-2, hidden=20)

x = torch.randn(256, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=hp["batch_size"], shuffle=True)

model = keras.Sequential([
    keras.layers.Input((6,)),
    keras.layers.Dense(hp["hidden"], activation="gelu"),
    keras.layers.Dense(hp["hidden"], activation="gelu"),
    keras.layers.Dense(2),
])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(learning_rate=hp["lr"])
metric = keras.metrics.SparseCategoricalAccuracy()

for epoch in range(hp["epochs"]):
    for xb, yb in loader:
        logits = model(xb, training=True)
        loss = loss_fn(yb, logits)
        model.zero_grad()
        loss.backward()
        weights = model.trainable_weights
        with torch.no_grad():
            optimizer.apply([w.value.grad for w in weights], weights)
        metric.update_state(yb, logits)
    print(f"epoch {epoch} accuracy {float(metric.result()):.4f}")
    metric.reset_state()
