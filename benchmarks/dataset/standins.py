"""Data of the shapes that foreign programs would fetch: real digits; texts, series, graphs with a
pattern.

Laid beside a program as `field_data.py`, where an edit of its loading line asks for it; so it
imports nothing of ours. Everything here can be learned: a sound training on it is still a sound
training.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any
Parts: TypeAlias = tuple[tuple[Array, Array], tuple[Array, Array]]
"""Training and test data, each inputs and labels, as `keras.datasets` gives them."""

CLASSES = 10
_SUBJECTS = (
    "the cat",
    "a dog",
    "my friend",
    "the old king",
    "a small bird",
    "the queen",
    "our teacher",
)
_VERBS = ("sees", "likes", "follows", "calls", "paints", "remembers")
_OBJECTS = (
    "the lamp",
    "a red car",
    "the green hill",
    "two books",
    "the river",
    "a long song",
)
_ENDINGS = (
    "in the morning",
    "at night",
    "after the rain",
    "with great care",
    "once again",
)


def digits(train: int = 1000, test: int = 300, side: int = 28) -> Parts:
    """Handwritten digits of scikit-learn, enlarged: (rows, side, side) of uint8, labels of
    uint8.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))[: train + test]
    factor = side // 8
    large = np.kron(images[order].reshape(-1, 8, 8) / 16, np.ones((1, factor, factor)))
    edge = side - 8 * factor
    x = np.pad(large, ((0, 0), (edge // 2, edge - edge // 2), (edge // 2, edge - edge // 2)))
    x, y = np.rint(x * 255).astype("uint8"), labels[order].astype("uint8")
    return (x[:train], y[:train]), (x[train:], y[train:])


def flat_digits() -> tuple[tuple[Array, Array], ...]:
    """The digits as training, validation and test data: rows of 784 from 0 to 1, and labels."""
    (x, y), (x_test, y_test) = digits(1000, 600)
    parts = ((x, y), (x_test[:300], y_test[:300]), (x_test[300:], y_test[300:]))
    return tuple(
        ((rows.reshape(len(rows), -1) / 255).astype("float32"), labels.astype("int64"))
        for rows, labels in parts
    )


def pictures(train: int = 1000, test: int = 300, side: int = 32, classes: int = CLASSES) -> Parts:
    """The digits in colours: (rows, side, side, 3) of uint8, labels (rows, 1).

    With a hundred classes the colour is a part of the label.
    """
    (x, y), (x_test, y_test) = digits(train, test, side)
    rows, chance = np.concatenate([x, x_test]), np.random.default_rng(1)
    shades = chance.integers(0, CLASSES, len(rows))
    palette = np.linspace(0.3, 1, CLASSES)
    colours = np.stack([palette[shades], palette[::-1][shades], np.full(len(rows), 0.6)], axis=1)
    coloured = np.rint(rows[..., None] * colours[:, None, None, :]).astype("uint8")
    labels = np.concatenate([y, y_test]).astype("int64")
    labels = (labels * CLASSES + shades if classes > CLASSES else labels)[:, None]
    return (coloured[:train], labels[:train]), (coloured[train:], labels[train:])


def reviews(num_words: int = 20000, train: int = 800, test: int = 200) -> Parts:
    """Lists of word numbers as of film reviews; the label is what most of a few words in it say."""
    chance = np.random.default_rng(2)
    rows, labels = [], chance.integers(0, 2, train + test)
    for label in labels:
        words = chance.integers(20, num_words, chance.integers(60, 200))
        telling = chance.random(len(words)) < 0.2
        words[telling] = chance.integers(4, 12, telling.sum()) + 8 * label
        rows.append([1, *words.tolist()])
    made = np.empty(len(rows), dtype=object)
    made[:] = rows
    return (made[:train], labels[:train]), (made[train:], labels[train:])


def waves(rows: int = 300, length: int = 500) -> tuple[Array, Array]:
    """Series of two kinds, (rows, length), labelled -1 and 1: a slow and a fast wave under
    noise.
    """
    chance = np.random.default_rng(rows)
    labels = chance.choice([-1, 1], rows)
    time = np.arange(length)
    period = np.where(labels > 0, 12.0, 25.0)[:, None]
    series = np.sin(2 * np.pi * (time / period + chance.random((rows, 1))))
    return series + chance.normal(0, 0.3, series.shape), labels


def waves_table(rows: int = 300, length: int = 500) -> Array:
    """The same as one table, the label in its first column."""
    series, labels = waves(rows, length)
    return np.column_stack([labels, series])


def sines(rows: int = 30, length: int = 200) -> Array:
    """Sine waves with random phases, (rows, length)."""
    start = np.random.default_rng(3).integers(-80, 80, (rows, 1))
    return np.sin((np.arange(length) + start) / 20.0).astype("float64")


def daily_series(days: int = 14, jumps: bool = False) -> Any:
    """A table of one value each five minutes with a daily pattern, indexed by time."""
    pd = import_module("pandas")
    time = np.arange(288 * days)
    values = (
        20 + 5 * np.sin(2 * np.pi * time / 288) + np.random.default_rng(4).normal(0, 0.4, len(time))
    )
    if jumps:
        values[len(values) // 2 : len(values) // 2 + 60] += 40
    index = pd.date_range("2014-04-01", periods=len(time), freq="5min", name="timestamp")
    return pd.DataFrame({"value": values}, index=index)


def moving_digits(rows: int = 60, frames: int = 20, side: int = 64) -> Array:
    """Videos of a digit that wanders, (frames, rows, side, side) of uint8."""
    (x, _), _ = digits(rows, 1)
    chance = np.random.default_rng(5)
    videos = np.zeros((frames, rows, side, side), dtype="uint8")
    place, step = (
        chance.integers(0, side - 28, (rows, 2)),
        chance.integers(-3, 4, (rows, 2)),
    )
    for frame in range(frames):
        for row in range(rows):
            top, left = place[row]
            videos[frame, row, top : top + 28, left : left + 28] = x[row]
        step = np.where((place + step < 0) | (place + step > side - 28), -step, step)
        place = place + step
    return videos


def prose(sentences: int = 2000) -> str:
    """Sentences of a small grammar, one a line."""
    chance = random.Random(6)  # noqa: S311 - data
    parts = (_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)
    return "\n".join(
        " ".join(chance.choice(words) for words in parts) + " ." for _ in range(sentences)
    )


def ratings(users: int = 200, films: int = 300, rows: int = 6000) -> Any:
    """A table userId, movieId, rating: users and films have tastes."""
    pd = import_module("pandas")
    chance = np.random.default_rng(7)
    taste, kind = chance.normal(0, 1, (users, 3)), chance.normal(0, 1, (films, 3))
    user, film = chance.integers(0, users, rows), chance.integers(0, films, rows)
    scores = 3 + (taste[user] * kind[film]).sum(axis=1) + chance.normal(0, 0.3, rows)
    stars = np.clip(np.rint(scores * 2) / 2, 0.5, 5)
    return pd.DataFrame({"userId": user + 1, "movieId": film + 1, "rating": stars, "timestamp": 0})


def films(count: int = 300) -> Any:
    """A table movieId, title, genres."""
    pd = import_module("pandas")
    numbers = range(1, count + 1)
    return pd.DataFrame(
        {"movieId": numbers, "title": [f"Film {k}" for k in numbers], "genres": "Drama"}
    )


def paper_words() -> Array:
    """Which of 100 words stand in each paper."""
    chance, subjects = np.random.default_rng(9), paper_subjects()
    words = chance.random((len(subjects), 100)) < 0.05
    for row, subject in enumerate(subjects):
        words[row, subject * 14 : subject * 14 + 14] |= chance.random(14) < 0.3
    return words


def paper_citations() -> list[tuple[int, int]]:
    """Which paper cites which: mostly of the same subject."""
    chance, subjects = np.random.default_rng(10), paper_subjects()
    pairs = set()
    for paper in range(len(subjects)):
        same = np.flatnonzero(subjects == subjects[paper])
        for other in (*chance.choice(same, 2), chance.integers(0, len(subjects))):
            pairs.add((int(other), paper))
    return sorted(pairs)


def paper_subjects(papers: int = 700) -> Array:
    """The subject of each paper, one of seven."""
    return np.random.default_rng(11).integers(0, 7, papers)


class Rows:
    """A data set as torchvision's: pictures of PIL or what `transform` makes of them, and
    labels.
    """

    def __init__(self, parts: Parts, train: bool, transform: Callable[[Any], Any] | None) -> None:
        import torch

        x, y = parts[0] if train else parts[1]
        self.data, self.targets = (
            torch.from_numpy(x),
            torch.from_numpy(y.reshape(-1).astype("int64")),
        )
        self.transform = transform

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        from PIL import Image

        picture = Image.fromarray(self.data[index].numpy())
        return (self.transform(picture) if self.transform else picture), int(self.targets[index])


class Views:
    """Pairs of the same coloured digit, each seen a little moved and under noise of its own."""

    def __init__(self, rows: int) -> None:
        import torch

        (x, y), _ = pictures(rows, 1)
        self.pictures = torch.from_numpy(x.transpose(0, 3, 1, 2) / 255).float()
        self.labels = y.reshape(-1)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[tuple[Any, Any], int]:
        return (self._view(index), self._view(index)), int(self.labels[index])

    def _view(self, index: int) -> Any:
        import torch

        down, right = torch.randint(-3, 4, (2,)).tolist()
        moved = self.pictures[index].roll((down, right), (1, 2))
        return moved + 0.1 * torch.randn(moved.shape)


def two_views(rows: int = 640) -> Views:
    """What contrastive trainings would make of pictures."""
    return Views(rows)


class OldMnist(Rows):
    """As `torchvision.datasets.MNIST` before 0.2.2, to be inherited from."""

    def __init__(
        self,
        root: str = "",  # noqa: ARG002 - as there
        train: bool = True,
        transform: Any = None,
        target_transform: Any = None,
        **_: Any,
    ) -> None:
        super().__init__(digits(), train, transform)
        self.train, self.target_transform = train, target_transform
        self.train_data = self.test_data = self.data
        self.train_labels = self.test_labels = self.targets


def mnist(_root: str = "", train: bool = True, transform: Any = None, **_: Any) -> Rows:
    """As `torchvision.datasets.MNIST`."""
    return Rows(digits(), train, transform)


def cifar10(_root: str = "", train: bool = True, transform: Any = None, **_: Any) -> Rows:
    """As `torchvision.datasets.CIFAR10`."""
    return Rows(pictures(), train, transform)


class Compose:
    """As torchvision's."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, picture: Any) -> Any:
        for transform in self.transforms:
            picture = transform(picture)
        return picture


class ToTensor:
    """As torchvision's: channels first, from 0 to 1."""

    def __call__(self, picture: Any) -> Any:
        import torch

        values = np.asarray(picture, dtype="float32") / 255
        return torch.from_numpy(
            values[None] if values.ndim == 2 else values.transpose(2, 0, 1).copy()
        )


class Normalize:
    """As torchvision's."""

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean, self.std = mean, std

    def __call__(self, tensor: Any) -> Any:
        import torch

        mean, std = (
            torch.tensor(self.mean)[:, None, None],
            torch.tensor(self.std)[:, None, None],
        )
        return (tensor - mean) / std


class Resize:
    """As torchvision's, for square pictures."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, picture: Any) -> Any:
        return picture.resize((self.size, self.size))


class Same:
    """A transform that changes nothing, for those that our data has no need of."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, picture: Any) -> Any:
        return picture


class Lambda:
    """As torchvision's."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, picture: Any) -> Any:
        return self.function(picture)


def save_image(*_: Any, **__: Any) -> None:
    """Pictures of a training are not kept."""


def make_grid(pictures: Any, *_: Any, **__: Any) -> Any:
    """The first of them."""
    return pictures[0]


def photographs(upscale: int) -> list[tuple[Any, Any]]:
    """Small pictures and the same ones large: pairs of (1, side, side) from 0 to 1."""
    import torch

    (large, _), _ = digits(80, 1, side=64)
    tensors = torch.from_numpy(large.astype("float32") / 255)[:, None]
    small = torch.nn.functional.avg_pool2d(tensors, upscale)
    return list(zip(small, tensors, strict=True))


def papers(_root: str = "", _name: str = "", transform: Any = None, **_: Any) -> Any:
    """One graph of papers, as `Planetoid` of PyTorch Geometric: words, citations, subjects,
    three masks.
    """
    import torch

    made = import_module("torch_geometric")
    order = np.random.default_rng(12).permutation(len(paper_subjects()))
    masks = torch.zeros(3, len(order), dtype=torch.bool)
    for mask, rows in zip(masks, np.split(order, (140, 340)), strict=True):
        mask[rows] = True
    edges = made.utils.to_undirected(torch.tensor(paper_citations()).t().contiguous())
    graph = made.data.Data(
        x=torch.from_numpy(paper_words().astype("float32")),
        y=torch.from_numpy(paper_subjects()),
        edge_index=edges,
        train_mask=masks[0],
        val_mask=masks[1],
        test_mask=masks[2],
    )
    return _graphs([graph], transform)


def molecules(_root: str = "", transform: Any = None, **_: Any) -> Any:
    """Two hundred small graphs, as `TUDataset` of PyTorch Geometric: trees, and trees with a
    ring.
    """
    import torch

    made, chance = import_module("torch_geometric"), np.random.default_rng(13)
    graphs = []
    for row in range(200):
        size, label = int(chance.integers(12, 22)), row % 2
        bonds = [(int(chance.integers(0, atom)), atom) for atom in range(1, size)]
        if label:
            bonds += [(atom, (atom + 1) % 6) for atom in range(6)]
        graphs.append(
            made.data.Data(
                x=torch.eye(7)[torch.from_numpy(chance.integers(0, 7, size))],
                edge_index=made.utils.to_undirected(torch.tensor(bonds).t().contiguous()),
                y=torch.tensor([label]),
            )
        )
    return _graphs(graphs, transform)


def _graphs(graphs: list[Any], transform: Any) -> Any:
    made = import_module("torch_geometric").data.InMemoryDataset(transform=transform)
    made.data, made.slices = made.collate(graphs)
    return made


class WordChunks:
    """A text as pairs of word numbers and those one word on, as Lightning's WikiText2 gives
    them.
    """

    def __init__(self, block_size: int = 35, sentences: int = 1500) -> None:
        import torch

        words = prose(sentences).split()
        known = {word: number for number, word in enumerate(sorted(set(words)))}
        self.numbers = torch.tensor([known[word] for word in words])
        self.block_size, self.vocab_size = block_size, len(known)

    def __len__(self) -> int:
        return math.floor((len(self.numbers) - 1) / self.block_size)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        begin = index * self.block_size
        end = begin + self.block_size
        return self.numbers[begin:end], self.numbers[begin + 1 : end + 1]


datasets = SimpleNamespace(MNIST=mnist, FashionMNIST=mnist, CIFAR10=cifar10)
transforms = SimpleNamespace(
    Compose=Compose,
    ToTensor=ToTensor,
    Normalize=Normalize,
    Resize=Resize,
    Lambda=Lambda,
    CenterCrop=Same,
    RandomCrop=Same,
    RandomHorizontalFlip=Same,
)
utils = SimpleNamespace(save_image=save_image, make_grid=make_grid)
"""As the modules of torchvision of the same names."""
