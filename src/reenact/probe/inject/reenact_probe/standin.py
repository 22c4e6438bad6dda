"""Gives a stand-in for a well-known data set whose loader cannot get it, for want of a network or a
file.

Only where the launcher asks for it. Every stand-in is written into the folder of the trace before
the program gets it: a result on made-up data says so. A trial is given the names of those that the
watched run got, and gets the same without asking for the real ones: two trainings that are compared
have the same data.

What is made up has the shapes, dtypes and value ranges of the real data. Labels follow from the
inputs (a template for each class under noise, words that only one topic has, a curved rule for
quantities), so that a sound training learns; the same call gives the same rows every time.
"""

from __future__ import annotations

import functools
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from reenact_probe.folder import Folder
from reenact_probe.late import when_imported
from reenact_probe.places import is_library
from reenact_probe.types import Args, Array, Function, Kwargs, Library

FILE = "stand-in-data.json"
KERAS = ("keras.datasets.", "keras.src.datasets.", "keras._tf_keras.keras.datasets.")
MNIST_784 = "mnist_784"
OPENML_MNIST = f"sklearn.datasets.fetch_openml({MNIST_784})"
MNIST_NUMBER = 554
"""Of the same at OpenML."""
_MISSING = re.compile(
    r"URL fetch failure|not found|download|connect|resolve|no such file|timed out",
    re.IGNORECASE,
)
_GREY, _COLOURS = (60000, 10000), (50000, 10000)
"""Rows of the real data."""
_PICTURES = {
    "mnist": (28, 1, 10, _GREY, 1),
    "fashion_mnist": (28, 1, 10, _GREY, 2),
    "cifar10": (32, 3, 10, _COLOURS, 4),
    "cifar100": (32, 3, 100, _COLOURS, 5),
    "cifar100 coarse": (32, 3, 20, _COLOURS, 6),
}
"""Side, channels, classes, rows of the real data, seed."""
_TORCHVISION = {
    "MNIST": "mnist",
    "FashionMNIST": "fashion_mnist",
    "CIFAR10": "cifar10",
    "CIFAR100": "cifar100",
}
_WORDS = {
    "imdb": (88584, 2, 7),
    "reuters": (30979, 46, 8),
}
"""Words, topics, seed."""
TRAIN, TEST = 2000, 500
"""Rows, where the program does not count on those of the real data."""
_CELL = 4
"""Pixels of a template that have one value, across and down."""
_SHIFTS = tuple((down, right) for down in (-2, 0, 2) for right in (-2, 0, 2))
_AT_ONCE = 1000
"""Pictures that are computed together: memory for a few of them as floats, not for all."""
_FIRST_TELLING, _TELLING = 30, 8
"""Rank of the first word that reports a topic, and how many there are to each."""

BOSTON = (
    (0.006, 89),
    (0, 100),
    (0.46, 27.7),
    (0, 1),
    (0.385, 0.871),
    (3.56, 8.78),
    (2.9, 100),
    (1.13, 12.1),
    (1, 24),
    (187, 711),
    (12.6, 22),
    (0.32, 396.9),
    (1.73, 38),
)
CALIFORNIA = (
    (-124.35, -114.31),
    (32.54, 41.95),
    (1, 52),
    (2, 39320),
    (1, 6445),
    (3, 35682),
    (1, 6082),
    (0.5, 15),
)
CALIFORNIA_MEANS = (
    (0.5, 15),
    (1, 52),
    (0.85, 141.9),
    (0.33, 34.07),
    (3, 35682),
    (0.69, 1243),
    (32.54, 41.95),
    (-124.35, -114.31),
)
"""Least and largest value of each column, as keras and as scikit-learn order them."""


class StandIns:
    """What this process was given in place of data that is not there."""

    def __init__(self, folder: Folder, names: Sequence[str]) -> None:
        self.folder = folder
        self.names = names
        """Those to give without asking for the real ones; none: whatever cannot be had."""
        self.given: list[str] = []

    def offer(
        self,
        owner: Any,
        attribute: str,
        named: Callable[[Args, Kwargs], str],
        make: Function,
    ) -> None:
        """Let a loader fall back on `make`; `named` names the data set, or is empty for an
        unknown one.
        """
        original = getattr(owner, attribute, None)
        if original is None or hasattr(original, "has_stand_in"):
            return

        @functools.wraps(original)
        def load(*args: Any, **kwargs: Any) -> Any:
            name = named(args, kwargs)
            if not name or (self.names and name not in self.names):
                return original(*args, **kwargs)
            if not self.names:
                try:
                    return original(*args, **kwargs)
                except Exception as error:
                    if not is_missing(error):
                        raise
            if name not in self.given:
                # An error here ends the program: no made-up data without its name in the result.
                self.given.append(name)
                self.folder.write_json(FILE, {"names": self.given})
            return make(*args, **kwargs)

        load.has_stand_in = True  # type: ignore[attr-defined]
        setattr(owner, attribute, load)


def install(folder: Folder, names: Sequence[str]) -> None:
    """Offer stand-ins from now on: those of these names, or whatever cannot be had."""
    stand_ins = StandIns(folder, names)
    for prefix in KERAS:
        for name, make in _KERAS.items():
            when_imported(
                prefix + name,
                functools.partial(_keras, stand_ins, name, make),
            )
    when_imported("sklearn.datasets", functools.partial(_sklearn, stand_ins))
    when_imported("torchvision.datasets", functools.partial(_torchvision, stand_ins))


def is_missing(error: Exception) -> bool:
    """Whether a loader failed for want of a network or a file."""
    offline = isinstance(error, OSError) or type(error).__module__ == "http.client"
    return offline or (
        type(error) in (Exception, RuntimeError) and bool(_MISSING.search(str(error)))
    )


def _keras(
    stand_ins: StandIns,
    name: str,
    make: Function,
    module: Library,
) -> None:
    dotted = f"keras.datasets.{name}"
    stand_ins.offer(
        module,
        "load_data",
        lambda *_: dotted,
        functools.partial(make, name),
    )
    if name in _WORDS:
        index = {f"word{rank}": rank for rank in range(1, _WORDS[name][0] + 1)}
        stand_ins.offer(
            module,
            "get_word_index",
            lambda *_: dotted,
            lambda *_, **__: dict(index),
        )


def _rows(real: Sequence[int]) -> Sequence[int]:
    """As many as the real data has where the program counts on that, as in `x.reshape(60000,
    784)`.
    """
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe(1)))
    text = "".join(
        linecache.getlines(
            next(
                (file for file in files if not is_library(file)),
                "",
            )
        )
    )
    digits = {match.replace("_", "") for match in re.findall(r"\b\d[\d_]*\b", text)}
    return real if str(real[0]) in digits else (TRAIN, TEST)


def _grey(name: str, *_: Any, **__: Any) -> Any:
    return tuple((x, y.astype("uint8")) for x, y in _images(name))


def _colours(name: str, label_mode: str = "fine") -> Any:
    coarse = " coarse" if label_mode == "coarse" else ""
    first = sys.modules["keras"].backend.image_data_format() == "channels_first"
    dtype = "uint8" if name == "cifar10" else "int64"
    parts = [
        (
            x.transpose(0, 3, 1, 2) if first else x,
            y,
        )
        for x, y in _images(name + coarse)
    ]
    return tuple(
        (
            x,
            y.astype(dtype)[:, None],
        )
        for x, y in parts
    )


def _texts(
    name: str,
    _path: str = "",
    *args: Any,
    test_split: float = 0.2,
    **kwargs: Any,
) -> Any:
    words, topics, seed = _WORDS[name]
    order = ("num_words", "skip_top", "maxlen")
    kwargs.update(zip(order, args))
    wanted = {key: value for key, value in kwargs.items() if key not in ("path", "seed")}
    x, y = encoded(
        *ranks(words, topics, TRAIN + TEST, seed),
        **wanted,
    )
    return _split(x, y, test_split)


def _houses(
    name: str,
    *args: Any,
    version: str = "large",
    test_split: float = 0.2,
    **_: Any,
) -> Any:
    if name == "boston_housing":
        return _split(
            *table(BOSTON, (5, 50), 506, 9),
            test_split,
        )
    rows = 600 if "small" in (version, *args) else TRAIN + TEST
    x, y = table(CALIFORNIA, (14999, 500001), rows, 10)
    return _split(
        x.astype("float32"),
        y.astype("float32"),
        test_split,
    )


def _split(x: Array, y: Array, share: float) -> Any:
    at = int(len(x) * (1 - share))
    return (
        x[:at],
        y[:at],
    ), (
        x[at:],
        y[at:],
    )


_KERAS: dict[str, Function] = {
    "mnist": _grey,
    "fashion_mnist": _grey,
    "cifar10": _colours,
    "cifar100": _colours,
    "imdb": _texts,
    "reuters": _texts,
    "boston_housing": _houses,
    "california_housing": _houses,
}


def _torchvision(stand_ins: StandIns, datasets: Library) -> None:
    def named(args: Args, _: Kwargs) -> str:
        own = next(
            kind for kind in type(args[0]).__mro__ if kind.__module__.startswith("torchvision.")
        )
        if own.__name__ in _TORCHVISION:
            return f"torchvision.datasets.{own.__name__}"
        return ""

    def fill(
        self: Any,
        root: Any = "",
        train: bool = True,
        transform: Any = None,
        target_transform: Any = None,
        **_: Any,
    ) -> None:
        datasets.VisionDataset.__init__(
            self, root, transform=transform, target_transform=target_transform
        )
        own = next(kind.__name__ for kind in type(self).__mro__ if kind.__name__ in _TORCHVISION)
        x, y = _images(_TORCHVISION[own])[0 if train else 1]
        self.train = train
        if own.startswith("CIFAR"):
            self.data, self.targets = x, y.tolist()
            self.classes = [f"class {number}" for number in range(100 if own == "CIFAR100" else 10)]
            self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
            return
        from_numpy = sys.modules["torch"].from_numpy
        self.data, self.targets = from_numpy(x), from_numpy(y.astype("int64"))

    for name in ("MNIST", "CIFAR10"):
        if hasattr(datasets, name):
            stand_ins.offer(getattr(datasets, name), "__init__", named, fill)


def _sklearn(stand_ins: StandIns, datasets: Library) -> None:
    def openml(args: Args, kwargs: Kwargs) -> str:
        name = args[0] if args else kwargs.get("name")
        if name == MNIST_784 or kwargs.get("data_id") == MNIST_NUMBER:
            return OPENML_MNIST
        return ""

    california = "fetch_california_housing"
    stand_ins.offer(
        datasets,
        california,
        lambda *_: f"sklearn.datasets.{california}",
        _california,
    )
    stand_ins.offer(datasets, "fetch_openml", openml, _openml)


def _california(
    *_: Any,
    return_X_y: bool = False,  # noqa: N803
    as_frame: bool = False,
    **__: Any,
) -> Any:
    names = [
        "MedInc",
        "HouseAge",
        "AveRooms",
        "AveBedrms",
        "Population",
        "AveOccup",
        "Latitude",
        "Longitude",
    ]
    x, y = table(
        CALIFORNIA_MEANS,
        (0.15, 5.0),
        TRAIN + TEST,
        11,
    )
    return _bunch(x, y, names, "MedHouseVal", return_X_y, as_frame)


def _openml(
    *_: Any,
    return_X_y: bool = False,  # noqa: N803
    as_frame: Any = "auto",
    **__: Any,
) -> Any:
    (x, y), (x_test, y_test) = _images("mnist")
    names = [f"pixel{number}" for number in range(1, 785)]
    flat = [part.reshape(len(part), -1).astype("int64") for part in (x, x_test)]
    concatenate = import_module("numpy").concatenate
    labels = concatenate([y, y_test]).astype(str).astype(object)
    return _bunch(
        concatenate(flat),
        labels,
        names,
        "class",
        return_X_y,
        bool(as_frame),
    )


def _bunch(
    x: Array,
    y: Array,
    names: list[str],
    target: str,
    pair: bool,
    framed: bool,
) -> Any:
    frame = None
    if framed:
        pandas = import_module("pandas")
        x = pandas.DataFrame(x, columns=names)
        y = pandas.Series(
            y,
            name=target,
            dtype="category" if y.dtype == object else None,
        )
        frame = pandas.concat([x, y], axis=1)
    if pair:
        return x, y
    return import_module("sklearn.utils").Bunch(
        data=x,
        target=y,
        frame=frame,
        feature_names=names,
        target_names=[target],
        DESCR="Stand-in data.",
    )


def _images(name: str) -> Any:
    """Pictures of uint8 and labels: (rows, side, side), or (rows, side, side, channels) where there
    are colours. Each is the template of its class, moved a little, with a fainter one of another
    class.
    """
    side, channels, classes, real, seed = _PICTURES[name]
    rows = _rows(real)
    numpy = import_module("numpy")
    chance = numpy.random.default_rng(seed)
    templates = _templates(side, channels, classes, chance)
    total = rows[0] + rows[1]
    labels = chance.permutation(numpy.arange(total) % classes)
    images = numpy.empty(
        (total, *templates.shape[2:]),
        dtype="uint8",
    )
    for begin in range(0, total, _AT_ONCE):
        part = labels[begin : begin + _AT_ONCE]
        moved = chance.integers(
            0,
            len(_SHIFTS),
            len(part),
        )
        bright, faint = (
            chance.uniform(*bounds, len(part))
            .astype("float32")
            .reshape(-1, *[1] * (images.ndim - 1))
            for bounds in ((0.6, 1.1), (0.0, 0.5))
        )
        mixed = bright * templates[moved, part]
        mixed += faint * templates[moved, chance.integers(0, classes, len(part))]
        mixed += 0.1 * chance.standard_normal(mixed.shape, dtype="float32")
        images[begin : begin + _AT_ONCE] = numpy.rint(numpy.clip(mixed, 0, 1) * 255)
    return (
        images[: rows[0]],
        labels[: rows[0]],
    ), (
        images[rows[0] :],
        labels[rows[0] :],
    )


def _templates(side: int, channels: int, classes: int, chance: Array) -> Array:
    """(shifts, classes, side, side[, channels]) from 0 to 1; one colour: strokes on an empty
    background.
    """
    cells = side // _CELL
    numpy = import_module("numpy")
    coarse = chance.random((classes, cells, cells, channels)).astype("float32")
    if channels == 1:
        coarse[coarse < 0.55] = 0
        coarse[:, [0, -1]] = 0
        coarse[:, :, [0, -1]] = 0
    large = coarse.repeat(_CELL, axis=1).repeat(
        _CELL,
        axis=2,
    )
    large = large[..., 0] if channels == 1 else large
    return numpy.stack(
        [
            numpy.roll(
                large,
                shift,
                axis=(1, 2),
            )
            for shift in _SHIFTS
        ]
    )


def ranks(
    words: int,
    classes: int,
    rows: int,
    seed: int,
) -> tuple[list[list[int]], Array]:
    """Texts as ranks of their words, the most frequent being 1, and their topics."""
    numpy = import_module("numpy")
    chance = numpy.random.default_rng(seed)
    topics = chance.permutation(numpy.arange(rows) % classes)
    texts = []
    for topic in topics:
        text = (words ** chance.random(chance.integers(30, 250))).astype("int64")
        telling = chance.random(len(text)) < 0.15
        first = _FIRST_TELLING + _TELLING * topic
        text[telling] = chance.integers(
            first,
            first + _TELLING,
            telling.sum(),
        )
        texts.append(text.tolist())
    return texts, topics


def encoded(
    texts: list[list[int]],
    topics: Array,
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> tuple[Array, Array]:
    """Ranks as keras numbers them, by the arguments of `imdb.load_data`."""
    numpy = import_module("numpy")
    head = [] if start_char is None else [start_char]
    made = [
        [
            *head,
            *(rank + index_from for rank in text),
        ]
        for text in texts
    ]
    kept = [at for at, text in enumerate(made) if not maxlen or len(text) < maxlen]
    limit = num_words or 1 + max(max(text) for text in made)
    rows = numpy.empty(len(kept), dtype=object)
    for row, at in enumerate(kept):
        words = [word if skip_top <= word < limit else oov_char for word in made[at]]
        rows[row] = [word for word in words if word is not None]
    return rows, numpy.asarray(topics)[kept]


def table(
    columns: Sequence[tuple[float, float]],
    target: tuple[float, float],
    rows: int,
    seed: int,
) -> tuple[Array, Array]:
    """Numbers between the bounds of each column, and a quantity that follows from them by a
    curved rule.
    """
    numpy = import_module("numpy")
    chance = numpy.random.default_rng(seed)
    shares = chance.random((rows, len(columns)))
    centred = 2 * shares - 1
    height = (
        centred @ chance.normal(0, 1, len(columns))
        + centred[:, 0] * centred[:, 1]
        - centred[:, 2] ** 2
    )
    height += chance.normal(0, 0.1, rows)
    low, high = numpy.asarray(columns, dtype="float64").T
    risen = 1 / (1 + numpy.exp(-height))
    return low + shares * (high - low), target[0] + risen * (target[1] - target[0])
