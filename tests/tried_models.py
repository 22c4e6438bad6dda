"""Programs whose live model is tried with changed inputs: how they begin, and what was seen of
it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reenact.probe.experiment import read_experiments
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Behaviour, Root

OPTIONS = WatchOptions(Path("trace"), preset="bare", experiments=0.5, seed=1)
HEAD = """
import torch, torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
"""


def behaviour(forks: Any, text: str) -> Behaviour:
    ran = forks.run(text, options=OPTIONS)
    (tested,) = read_experiments(ran.folder, root=Root(ran.cwd)).behaviour
    return tested
