"""A small project: a package with re-exports, a base class, a training loop, a test, and a
broken file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.bug.context.index import CodeIndex, build_index
from reenact.bug.project_files import ProjectFiles, project_files

FILES = {
    "src/mininet/__init__.py": (
        "from mininet.layers import Gate\nfrom mininet.loops.trainer import *\n"
    ),
    "src/mininet/layers/__init__.py": "from .gate import Gate\nfrom .mixer import Mixer\n",
    "src/mininet/layers/base.py": '''
class Block:
    """What all layers share."""

    def __init__(self, width: int, *, bias: bool = True) -> None:
        self.width = width
        self.bias = bias

    def reset(self) -> None:
        self.seen = 0
''',
    "src/mininet/layers/gate.py": '''
from mininet.layers.base import Block
from mininet.maths import squash


class Gate(Block):
    """Lets a share of its input through."""

    def __init__(self, width, sharpness=4.0, **kwargs):
        super().__init__(width, **kwargs)
        self.sharpness = sharpness

    def forward(self, inputs, mask=None):
        """Gate the inputs."""
        if mask is not None and mask.sum() == 0:
            raise ValueError("the mask lets nothing through, expected one open position")
        return squash(inputs, self.sharpness)
''',
    "src/mininet/layers/mixer.py": """
from .base import Block


class Mixer(Block):
    def forward(self, inputs):
        return inputs.mean(0)
""",
    "src/mininet/maths.py": '''
SLOPE = 0.5


def squash(values, sharpness):
    """Squash to between zero and one."""
    return _bounded(values * sharpness * SLOPE)


def _bounded(values):
    return values.clip(0, 1)
''',
    "src/mininet/loops/__init__.py": "",
    "src/mininet/loops/trainer.py": '''
__all__ = ["Trainer"]


class Trainer:
    """Trains a network."""

    def __init__(self, network, optimizer, epochs=3):
        self.network, self.optimizer, self.epochs = network, optimizer, epochs

    def run(self, loader):
        for epoch in range(self.epochs):
            for inputs, targets in loader:
                self.optimizer.zero_grad()
                loss = self.network(inputs.to("cpu"), targets)
                loss.backward()
                self.optimizer.step()
''',
    "tests/test_gate.py": """
from mininet import Gate


def test_gate_lets_through():
    gate = Gate(4, sharpness=2.0)
    assert gate.forward(1.0) == 1.0
""",
    "broken.py": "def half(:\n    pass\n\nclass Kept:\n",
    "notes.txt": "no code",
}

REPORT = """Gate ignores sharpness when a mask is given

I use `Gate` with a mask and expect the result to depend on `sharpness`:

```python
from mininet import Gate
import torch

def forward(x):
    return x

gate = Gate(8, sharpness=10.0)
gate.forward(torch.ones(3), mask=torch.zeros(3))
```

Traceback (most recent call last):
  File "/home/me/play.py", line 9, in <module>
    gate.forward(torch.ones(3), mask=torch.zeros(3))
  File "/home/me/.venv/lib/python3.11/site-packages/mininet/layers/gate.py", line 16, in forward
    raise ValueError("the mask lets nothing through")
ValueError: the mask lets nothing through, expected one open position

- OS: Linux
torch==2.1.0
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", FILES)


@pytest.fixture
def files(project: Path) -> ProjectFiles:
    return project_files(project)


@pytest.fixture
def code(files: ProjectFiles) -> CodeIndex:
    return build_index(files)


@pytest.fixture
def report() -> str:
    return REPORT
