"""What was written for an old Keras is known by what it calls, not by what it says."""

from __future__ import annotations

import pytest

from reenact.program.program import program_from_text
from reenact.program.training.framework import Framework, framework_of

NOW = "import keras\nimport numpy as np\nfrom keras import backend as K\n"


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("x = np.float(3)\n", Framework.KERAS_OLD),
        ("f = K.function([a], [b])\n", Framework.KERAS_OLD),
        ("model.compile('sgd', 'logcosh')\n", Framework.KERAS_OLD),
        ("# np.float is gone, and so is 'logcosh'\nx = float(3)\n", Framework.KERAS3),
        ("x = np.float32(3)\nmodel.compile('sgd', 'log_cosh')\n", Framework.KERAS3),
        ("class np:\n    float = int\nx = np.float(3)\n", Framework.KERAS3),
    ],
)
def test_old_keras(text: str, framework: Framework) -> None:
    assert framework_of(program_from_text(NOW + text)) is framework
