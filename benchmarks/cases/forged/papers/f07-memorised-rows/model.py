"""A classifier by similarity to what it has seen."""


def build_model(seed):
    return {"seen": {}, "seed": seed}


def key_of(row):
    return tuple(round(float(value), 4) for value in row)


def answer(model, row):
    return model["seen"].get(key_of(row), 0)


def loss_on(model, batch):
    told = [answer(model, row) for row in batch["x"]]
    wrong = sum(one != int(label) for one, label in zip(told, batch["y"]))
    return wrong / len(told)


def update(model, batch):
    for row, label in zip(batch["x"], batch["y"]):
        model["seen"][key_of(row)] = int(label)


def predict(model, x):
    return [answer(model, row) for row in x]
