"""Fits a line by gradient descent, with nothing but the standard library. Writes out.json."""

import json
import random
import sys

with open("settings.json") as file:
    settings = json.load(file)
print("training for", sys.argv[1], flush=True)
chance = random.Random(settings["seed"])
points = [(x / 20, 2 * x / 20 + 1 + chance.gauss(0, 0.05)) for x in range(-20, 20)]
weight, bias = chance.uniform(-1, 1), 0.0
for epoch in range(settings["epochs"]):
    errors = [(weight * x + bias - y, x) for x, y in points]
    weight -= settings["learning_rate"] * sum(2 * error * x for error, x in errors) / len(points)
    bias -= settings["learning_rate"] * sum(2 * error for error, x in errors) / len(points)
loss = sum((weight * x + bias - y) ** 2 for x, y in points) / len(points)
with open("out.json", "w") as file:
    json.dump({"loss": round(min(loss, 1e9), 6)}, file)
print("loss", round(loss, 6))
