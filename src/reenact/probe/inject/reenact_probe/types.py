"""Names for types in annotations. The program brings torch, Keras and numpy, in whatever version,
and the probe never imports them first: what comes from them is `Any` here, under the name a reader
knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Library = Any
"""torch, keras, numpy or another package, as the program imported it."""
Module = Any
"""A `torch.nn.Module`, or a layer or model of Keras."""
Tensor = Any
"""A `torch.Tensor`, or what Keras hands over in its place."""
Array = Any
"""A numpy array."""
Optimizer = Any
"""An optimizer of torch or of Keras."""
Function = Callable[..., Any]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Logs = Any
"""What Keras gives its callbacks: values by name, or none."""
Facts = dict[str, Any]
"""What becomes a JSON object of the trace."""
Place = list[Any]
"""`[file, line, column, end line, end column]`."""
Row = Any
"""One row of a table: numbers in the order of its columns."""
