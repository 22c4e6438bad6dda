"""What may be installed: requirements as plain names and versions, and whose word they rest on.

Covered: options, addresses, version control, paths and variables in a requirement (each refused by
name, no matter who wrote it), names that a model or a document made up (refused until the user or a list
allows them). Not covered: a package that the user allowed and that is malicious. It is installed
from wheels, so nothing of it runs on the host; it runs in boxes alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from reenact.errors import InputError

WELL_KNOWN = frozenset(
    {
        "absl-py",
        "accelerate",
        "albumentations",
        "antlr4-python3-runtime",
        "attrs",
        "beartype",
        "click",
        "cloudpickle",
        "cython",
        "datasets",
        "diffusers",
        "einops",
        "einx",
        "equinox",
        "gym",
        "evaluate",
        "filelock",
        "flask",
        "flax",
        "flit-core",
        "fsspec",
        "gpytorch",
        "gymnasium",
        "h5py",
        "hatch-vcs",
        "hatchling",
        "huggingface-hub",
        "hydra-core",
        "imageio",
        "jax",
        "jaxlib",
        "jaxtyping",
        "joblib",
        "jsonschema",
        "keras",
        "kornia-rs",
        "lightgbm",
        "lightning",
        "linear-operator",
        "matplotlib",
        "maturin",
        "meson-python",
        "ml-collections",
        "networkx",
        "ninja",
        "nltk",
        "numba",
        "numpy",
        "omegaconf",
        "opencv-python",
        "opencv-python-headless",
        "optax",
        "optuna",
        "packaging",
        "pandas",
        "pdm-backend",
        "peft",
        "pillow",
        "poetry-core",
        "protobuf",
        "psutil",
        "pyro-api",
        "pyro-ppl",
        "pyarrow",
        "pybind11",
        "pydantic",
        "pyparsing",
        "pytest",
        "python-dateutil",
        "pytorch-lightning",
        "pyyaml",
        "regex",
        "requests",
        "rich",
        "sacrebleu",
        "safetensors",
        "scikit-build-core",
        "scikit-image",
        "scikit-learn",
        "scipy",
        "seaborn",
        "sentence-transformers",
        "sentencepiece",
        "setuptools",
        "setuptools-scm",
        "six",
        "spacy",
        "statsmodels",
        "sympy",
        "tensorboard",
        "tensorboardx",
        "tensorflow",
        "tensorflow-cpu",
        "tensorflow-datasets",
        "tf-keras",
        "timm",
        "tokenizers",
        "torch",
        "torch-geometric",
        "torchaudio",
        "torchinfo",
        "torchmetrics",
        "torchvision",
        "tqdm",
        "transformers",
        "typing-extensions",
        "wandb",
        "wheel",
        "xgboost",
    }
)
LONGEST = 1000
MOST_LINES = 2000
_HASHES = re.compile(r"(?:\s+--hash=\w+:\w+)+\s*$")
_OFFENCES = (
    (re.compile(r"^-"), "an option"),
    (re.compile(r"\$\{?\w"), "a variable"),
    (
        re.compile(r"\b(?:git|hg|svn|bzr)\+", re.IGNORECASE),
        "an address of a version control system",
    ),
    (re.compile(r"\bfile:", re.IGNORECASE), "a path"),
    (re.compile(r"://|@"), "an address"),
    (re.compile(r"^[.~]|[/\\]|\.(?:whl|tar\.gz|tgz|zip)$", re.IGNORECASE), "a path"),
)


class ProposedBy(StrEnum):
    """Whose word a requirement is."""

    USER = "user"
    REPOSITORY = "repository"
    """A requirements file of the repository that the user named."""
    MODEL = "model"
    DOCUMENT = "document"
    """A paper, a report, a README, or what a package asks for its own build."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One package with its versions, in the words of a requirements file. Made by `requirement`."""

    text: str
    name: str
    """The name in its one canonical spelling."""
    proposed_by: ProposedBy = ProposedBy.USER


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which names may be installed on the word of a model or a document."""

    names: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def usual(cls, *also: str) -> Allowed:
        """The names that everybody in the field knows, and those the user allowed."""
        return cls(WELL_KNOWN | {canonicalize_name(name) for name in also})

    def check(self, requirements: Iterable[Requirement]) -> None:
        """InputError that lists every name that may be made up, so that somebody must vouch for
        it.
        """
        unsure = (ProposedBy.MODEL, ProposedBy.DOCUMENT)
        strange = [
            one for one in requirements if one.proposed_by in unsure and one.name not in self.names
        ]
        if not strange:
            return
        listed = ", ".join(
            sorted(f"{item.name} (proposed by a {item.proposed_by})" for item in strange)
        )
        names = ",".join(sorted({item.name for item in strange}))
        says = (
            f"These packages were not named by you and are on no list, so they may be made up: "
            f"{listed}."
        )
        raise InputError(says, next_step=f"Look them up; to allow them: --allow-packages {names}")


def requirement(text: str, proposed_by: ProposedBy = ProposedBy.USER) -> Requirement:
    """Read one requirement; InputError names what is wrong with it."""
    text = _HASHES.sub("", text.strip())
    if not text or len(text) > LONGEST or not text.isprintable():
        raise InputError(f"Not a valid requirement. Received: {text[:80]!r}")
    bare = text.partition(";")[0].strip()
    for pattern, offence in _OFFENCES:
        if pattern.search(bare):
            raise InputError(
                (
                    f"A requirement is a name and versions; {offence} is not installed from. "
                    f"Received: {text!r}"
                ),
                next_step="Write it as NAME, NAME==VERSION or NAME>=VERSION.",
            )
    try:
        parsed = Parsed(text)
    except InvalidRequirement as error:
        raise InputError(f"Not a valid requirement. Received: {text!r}") from error
    return Requirement(str(parsed), canonicalize_name(parsed.name), proposed_by)


def without_version(one: Requirement) -> Requirement:
    """The same package in any version."""
    parsed = Parsed(one.text)
    parsed.specifier = SpecifierSet()
    return replace(one, text=str(parsed))


def requirements_in(text: str, proposed_by: ProposedBy) -> tuple[Requirement, ...]:
    """The requirements of a requirements file; comments and empty lines are left out."""
    lines = text.replace("\\\n", " ").splitlines()
    if len(lines) > MOST_LINES:
        raise InputError(
            f"A requirements file has at most {MOST_LINES} lines, received {len(lines)}."
        )
    stated = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in lines)
    return tuple(requirement(line, proposed_by) for line in stated if line)
