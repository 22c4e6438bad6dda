"""Names of packages that need nobody's word: libraries of the field and the usual builders of packages."""

from __future__ import annotations

WELL_KNOWN = frozenset(
    """
    absl-py accelerate albumentations antlr4-python3-runtime click cython datasets diffusers einops
    evaluate filelock flask flax flit-core fsspec gpytorch gymnasium h5py hatch-vcs hatchling
    huggingface-hub hydra-core imageio jax jaxlib joblib jsonschema keras lightgbm lightning
    matplotlib maturin meson-python ml-collections networkx ninja nltk numba numpy omegaconf
    opencv-python opencv-python-headless optax optuna packaging pandas pdm-backend peft pillow
    poetry-core protobuf psutil pyarrow pybind11 pydantic pyparsing pytest python-dateutil
    pytorch-lightning pyyaml regex requests rich sacrebleu safetensors scikit-build-core
    scikit-image scikit-learn scipy seaborn sentence-transformers sentencepiece setuptools
    setuptools-scm six spacy statsmodels sympy tensorboard tensorboardx tensorflow tensorflow-cpu
    tensorflow-datasets tf-keras timm tokenizers torch torch-geometric torchaudio torchinfo
    torchmetrics torchvision tqdm transformers typing-extensions wandb wheel xgboost
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
