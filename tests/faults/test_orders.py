"""RE053, as the text shows it: rows that are brought into another order without their labels, each beside
programs in which both keep together."""

from __future__ import annotations

import pytest

from reenact.faults.registry import detector
from reenact.testing.faults import findings

APART = {
    "files of a data set": (
        (
            "class Sounds(Dataset):\n"
            "    def __init__(self, files, labels):\n"
            "        self.files = sorted(files)\n"
            "        self.labels = labels\n"
            "    def __getitem__(self, i):\n"
            "        return read(self.files[i]), self.labels[i]\n"
        ),
        3,
    ),
    "texts picked by length": (
        (
            "texts, labels = load()\n"
            "order = np.argsort([len(t) for t in texts])\n"
            "texts = [texts[i] for i in order]\n"
            "rows = list(zip(texts, labels))\n"
        ),
        2,
    ),
    "columns of a data set": (
        (
            "texts, labels = load()\n"
            "random.shuffle(texts)\n"
            "rows = Dataset.from_dict({'text': texts, 'label': labels})\n"
        ),
        2,
    ),
    "a permutation of the rows themselves": (
        ("X, y = load()\nX = rng.permutation(X)\nmodel.fit(x=X, y=y)\n"),
        2,
    ),
    "a sort by a column": (
        ("X, y = load()\nX = X[np.argsort(X[:, 0])]\na, b, c, d = train_test_split(X, y)\n"),
        2,
    ),
    "a shuffle in place": (
        ("X, y = load()\nnp.random.shuffle(X)\nrows = TensorDataset(tensor(X), tensor(y))\n"),
        2,
    ),
    "a table sorted after its label was taken": (
        (
            "df = read_csv(path)\n"
            "y = df['label'].values\n"
            "df = df.sort_values('date').reset_index(drop=True)\n"
            "X = df.drop(columns='label').values\n"
            "model.fit(X, y)\n"
        ),
        3,
    ),
    "a table sorted in place": (
        (
            "df = read_csv(path)\n"
            "y = df['y'].to_numpy()\n"
            "df.sort_values('t', inplace=True)\n"
            "X = df[names].to_numpy()\n"
            "rows = TensorDataset(tensor(X), tensor(y))\n"
        ),
        3,
    ),
    "a sample of all rows": (
        ("df = read_csv(path)\ny = df.pop('y')\ndf = df.sample(frac=1)\nmodel.fit(df, y)\n"),
        3,
    ),
    "two files": (
        (
            "X = np.load('x.npy')\n"
            "y = np.load('y.npy')\n"
            "order = np.random.permutation(len(X))\n"
            "X = X[order]\n"
            "rows = TensorDataset(tensor(X), tensor(y))\n"
        ),
        3,
    ),
    "batches by two draws": (
        (
            "X, y = load()\n"
            "for step in range(10):\n"
            "    rows = X[rng.integers(0, 100, 32)]\n"
            "    labels = y[rng.integers(0, 100, 32)]\n"
            "    loss = F.mse_loss(model(rows), labels)\n"
        ),
        3,
    ),
    "two permutations an epoch": (
        (
            "X, y = load()\n"
            "p = torch.randperm(100)\n"
            "q = torch.randperm(100)\n"
            "for k in range(0, 100, 10):\n"
            "    loss = F.mse_loss(model(X[p[k:k + 10]]), y[q[k:k + 10]])\n"
        ),
        2,
    ),
    "a new order every epoch": (
        (
            "def train(x, y):\n"
            "    for epoch in range(3):\n"
            "        x = x[torch.randperm(len(x))]\n"
            "        for k in range(0, 9, 3):\n"
            "            loss = F.cross_entropy(model(x[k:k + 3]), y[k:k + 3])\n"
        ),
        3,
    ),
    "splits by two calls": (
        (
            "a, b = train_test_split(X, random_state=0)\nc, d = train_test_split(y, "
            "random_state=1)\nmodel.fit(a, c)\n"
        ),
        2,
    ),
    "texts sorted by length": (
        (
            "def prepare(texts, labels):\n    texts = sorted(texts, key=len)\n    return texts, "
            "labels\nx, y = prepare(*load())\nrows = list(zip(x, y))\n"
        ),
        2,
    ),
    "columns of a table, labels by another name": (
        (
            "def prepare(frame, churned):\n"
            "    order = np.argsort(frame['opened'])\n"
            "    frame = {name: column[order] for name, column in frame.items()}\n"
            "    X = np.stack([frame['a']])\n"
            "    return X, churned\n"
            "x, target = prepare(*load())\n"
            "x, target = x[:80], target[:80]\n"
        ),
        2,
    ),
}
TOGETHER = {
    "files and labels of a data set": (
        "class Sounds(Dataset):\n"
        "    def __init__(self, files, labels):\n"
        "        order = np.argsort(files)\n"
        "        self.files = files[order]\n"
        "        self.labels = labels[order]\n"
        "    def __getitem__(self, i):\n"
        "        return read(self.files[i]), self.labels[i]\n"
    ),
    "texts and labels picked alike": (
        "texts, labels = load()\n"
        "order = np.argsort([len(t) for t in texts])\n"
        "texts = [texts[i] for i in order]\n"
        "labels = [labels[i] for i in order]\n"
        "rows = list(zip(texts, labels))\n"
    ),
    "labels by the names of files": (
        "class Sounds(Dataset):\n"
        "    def __init__(self, files):\n"
        "        self.files = sorted(files)\n"
        "        self.labels = [name(f) for f in self.files]\n"
        "    def __getitem__(self, i):\n"
        "        return read(self.files[i]), self.labels[i]\n"
    ),
    "one order for both": (
        "X, y = load()\norder = np.argsort(X[:, 0])\nX, y = X[order], y[order]\nmodel.fit(X, y)\n"
    ),
    "one seed for both": (
        "X, y = load()\n"
        "np.random.seed(0)\n"
        "np.random.shuffle(X)\n"
        "np.random.seed(0)\n"
        "np.random.shuffle(y)\n"
        "model.fit(X, y)\n"
    ),
    "a table before its label is taken": (
        "df = read_csv(p)\ndf = df.sample(frac=1)\nX = df[a]\ny = df['y']\nm.fit(X, y)\n"
    ),
    "labels by the index of the table": (
        "X, y = df[a], df['y']\nX = X.sort_values('t')\ny = y.loc[X.index]\nm.fit(X, y)\n"
    ),
    "targets made of sorted inputs": (
        "x = rng.uniform(size=50)\nx = np.sort(x)\ny = np.sin(x)\nmodel.fit(x, y)\n"
    ),
    "rows packed by length and put back": (
        "def step(x, lengths, y):\n"
        "    order = lengths.argsort()\n"
        "    x = x[order]\n"
        "    out = rnn(x)\n"
        "    out = out[order.argsort()]\n"
        "    loss = F.mse_loss(out, y)\n"
    ),
    "lengths sorted with their numbers": (
        "def pack(x, lengths, y):\n"
        "    lengths, order = lengths.sort()\n"
        "    x = x[order]\n"
        "    y = y[order]\n"
        "    return x, lengths, y\n"
    ),
    "mixup": (
        "def step(x, y):\n"
        "    order = torch.randperm(len(x))\n"
        "    x = 0.5 * x + 0.5 * x[order]\n"
        "    loss = F.mse_loss(model(x), y) + F.mse_loss(model(x), y[order])\n"
    ),
    "cutmix": (
        "def step(x, y):\n"
        "    order = torch.randperm(len(x))\n"
        "    x[:, :, 1:3] = x[order, :, 1:3]\n"
        "    loss = F.mse_loss(model(x), y)\n"
    ),
    "files, which come in no order": (
        "files = os.listdir(d)\nlabels = np.load('y.npy')\nfiles.sort()\nrows = "
        "ImageDataset(files, labels)\n"
    ),
    "pairs": (
        "X, y = load()\npairs = list(zip(X, y))\nrandom.shuffle(pairs)\nX, y = "
        "zip(*pairs)\nmodel.fit(X, y)\n"
    ),
    "labels shuffled on purpose": ("y_null = rng.permutation(y)\nmodel.fit(X, y_null)\n"),
    "a measure that sorts": (
        "def lift(scores, labels):\n"
        "    labels = labels[np.argsort(-scores)]\n"
        "    return scores, labels.cumsum()\n"
        "x, y = lift(scores, labels)\n"
    ),
    "points of one row": (
        "def change(points, label):\n"
        "    points = random.shuffle(points)\n"
        "    return points, label\n"
        "rows = rows.map(change)\n"
    ),
    "two splits side by side": (
        "def load(x, y, x_test, y_test):\n"
        "    order = np.random.permutation(len(x))\n"
        "    x = x[order]\n"
        "    y = y[order]\n"
        "    return x, y, x_test, y_test\n"
        "a, b, c, d = load(*read())\n"
        "model.fit(a, b)\n"
        "model.fit(c, d)\n"
    ),
    "splits with one seed": (
        "a, b = train_test_split(X, random_state=0)\nc, d = train_test_split(y, random_state=0)\n"
        "model.fit(a, c)\n"
    ),
}


@pytest.mark.parametrize("name", APART)
def test_inputs_that_leave_their_labels_are_placed_where_they_are_moved(
    name: str,
) -> None:
    text, line = APART[name]
    assert [
        one.place.line for one in findings(detector("RE053"), text) if one.place is not None
    ] == [line]


@pytest.mark.parametrize("name", TOGETHER)
def test_inputs_that_keep_their_labels_are_left_alone(name: str) -> None:
    assert findings(detector("RE053"), TOGETHER[name]) == ()
