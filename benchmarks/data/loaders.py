"""`python -m benchmarks.data.loaders NAME FILE`: let keras.datasets load or download, keep plain
arrays.

A process of its own, because a loader may hang on a dead network and because Reuters comes as
pickles.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchmarks.data.formats import pack_texts
from benchmarks.data.store import save

IMAGES = {"mnist": "mnist", "fashion-mnist": "fashion_mnist", "cifar10": "cifar10"}


def load(name: str) -> dict[str, NDArray[Any]]:
    """The arrays that keras.datasets gives for this data set."""
    import keras

    if name == "reuters":
        (texts, labels), (texts_test, labels_test) = keras.datasets.reuters.load_data(
            test_split=0.2, seed=42
        )
        return pack_texts([*texts, *texts_test], [*labels, *labels_test], len(texts))
    module = getattr(keras.datasets, IMAGES[name])
    (x_train, y_train), (x_test, y_test) = module.load_data()
    return {
        "x_train": x_train,
        "y_train": y_train.reshape(-1).astype("uint8"),
        "x_test": x_test,
        "y_test": y_test.reshape(-1).astype("uint8"),
    }


if __name__ == "__main__":
    save(Path(sys.argv[2]), load(sys.argv[1]))
