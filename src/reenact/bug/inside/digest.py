"""A value as leaves: where in it, and what is there, without addresses and without running its
code.

Covered: plain values, containers, arrays, tensors, attributes of objects, each up to a depth and a
number of leaves. What cannot be looked into (a graph of gradients, a generator, an object of C) is
marked as closed.
"""

from __future__ import annotations

import hashlib
import re
import sys
import types
from typing import Any

DEPTH = 8
LEAVES = 3000
"""Leaves of one value."""
ITEMS = 300
"""Items of one container."""
LARGEST = 4_000_000
"""Elements of an array that are all looked at; of a larger one every n-th."""
TEXT = 60
"""Characters up to which a text is its own leaf."""
PLAIN = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    range,
    slice,
)
CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


class Digest:
    """Leaves of values, collected one after another."""

    def __init__(self) -> None:
        self.leaves: dict[str, str] = {}
        self.closed = False
        """Something could not be looked into."""
        self._seen: dict[int, Any] = {}

    def add(self, path: str, value: Any, depth: int = DEPTH) -> Digest:
        """With the leaves of one more value. Attributes are written `.name`, items `[key]`."""
        if len(self.leaves) >= LEAVES or depth < 0:
            self.closed = True
            return self
        kind = type(value)
        try:
            if kind in PLAIN:
                self.leaves[path] = plain_leaf(value)
            elif id(value) in self._seen:
                self.leaves[path] = "seen before"
            else:
                self._seen[id(value)] = value
                self._add_object(path, value, depth)
        except Exception as error:  # noqa: BLE001 - a stranger's object may raise anything
            self.closed = True
            self.leaves[path] = f"closed: {kind.__qualname__}, {type(error).__name__}"
        return self

    def _add_object(self, path: str, value: Any, depth: int) -> None:
        if isinstance(value, (list, tuple)):
            self._add_items(path, value, depth)
        elif isinstance(value, dict):
            self._add_mapping(path, value, depth)
        elif isinstance(value, (set, frozenset)):
            items = sorted(
                plain_leaf(one) if type(one) in PLAIN else type(one).__qualname__ for one in value
            )
            self.leaves[path] = f"{type(value).__qualname__} {_hash(repr(items).encode())}"
        elif isinstance(value, type):
            self.leaves[path] = f"class {value.__qualname__}"
        elif isinstance(value, types.ModuleType):
            self.leaves[path] = f"module {value.__name__}"
        elif isinstance(value, CALLABLE):
            self.leaves[path] = f"callable {getattr(value, '__qualname__', '')}"
        elif isinstance(value, BaseException):
            self.leaves[path] = raised_leaf(value)
        elif not self._add_array(path, value):
            self._add_attributes(path, value, depth)

    def _add_items(self, path: str, value: Any, depth: int) -> None:
        self.leaves[path] = f"{type(value).__qualname__} of {len(value)}"
        if len(value) > 8 and all(type(one) in PLAIN for one in value):
            self.leaves[f"{path}[:]"] = _hash("\n".join(map(plain_leaf, value)).encode())
            return
        for place, item in enumerate(value[:ITEMS]):
            self.add(
                f"{path}[{place}]",
                item,
                depth - 1,
            )
        self.closed = self.closed or len(value) > ITEMS

    def _add_mapping(self, path: str, value: Any, depth: int) -> None:
        keys = [plain_leaf(key) if type(key) in PLAIN else type(key).__qualname__ for key in value]
        self.leaves[path] = (
            f"{type(value).__qualname__} of {len(keys)} {_hash(repr(sorted(keys)).encode())}"
        )
        for key, item in list(zip(keys, value.values()))[:ITEMS]:  # noqa: B905 - of the same length
            self.add(
                f"{path}[{key}]",
                item,
                depth - 1,
            )
        self.closed = self.closed or len(keys) > ITEMS

    def _add_array(self, path: str, value: Any) -> bool:
        """Whether the value is an array or tensor, which is taken by its type, shape and bytes."""
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            self._add_tensor(path, value, torch)
            return True
        if numpy is None:
            return False
        if type(value).__module__.partition(".")[0] in ("tensorflow", "jax", "jaxlib"):
            value = numpy.asarray(value)
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            data = numpy.asarray(value)
            self.leaves[path] = f"array {data.dtype} {data.shape}"
            if data.dtype.hasobject:
                self.closed = True
            else:
                flat = data.reshape(-1)
                step = max(1, flat.size // LARGEST)
                self.leaves[f"{path}[:]"] = _hash(numpy.ascontiguousarray(flat[::step]).tobytes())
            return True
        return False

    def _add_tensor(self, path: str, value: Any, torch: Any) -> None:
        about = f"tensor {value.dtype} {tuple(value.shape)} {value.device} {value.requires_grad}"
        self.leaves[path] = about
        # What an operation of autograd keeps to itself cannot be read, and may be what differs.
        self.closed = self.closed or value.grad_fn is not None
        flat = value.detach().cpu().reshape(-1)
        flat = flat[:: max(1, flat.numel() // LARGEST)].contiguous()
        self.leaves[f"{path}[:]"] = _hash(flat.view(torch.uint8).numpy().tobytes())
        if value.is_leaf and value.grad is not None:
            self.add(f"{path}.grad", value.grad, 1)

    def _add_attributes(self, path: str, value: Any, depth: int) -> None:
        """Attributes that the object itself holds; properties are code and are not run."""
        kind = type(value)
        self.leaves[path] = f"object {kind.__qualname__}"
        held: dict[str, Any] = {}
        try:
            inner = object.__getattribute__(value, "__dict__")
            held.update(inner if type(inner) is dict else {})
        except AttributeError:
            inner = None
        for base in kind.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                member = base.__dict__.get(name)
                if isinstance(member, types.MemberDescriptorType):
                    try:
                        held[name] = member.__get__(value, kind)
                    except AttributeError:
                        continue
        if inner is None and not held:
            self.closed = True
        for name in sorted(held, key=str):
            self.add(
                f"{path}.{name}",
                held[name],
                depth - 1,
            )


def plain_leaf(value: Any) -> str:
    """A plain value as a short text; a long one by its hash."""
    if type(value) in (str, bytes) and len(value) > TEXT:
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        return f"{type(value).__name__} {len(value)} {_hash(data)}"
    text = repr(value)
    return text if len(text) <= 2 * TEXT else f"{type(value).__name__} {_hash(text.encode())}"


def raised_leaf(error: BaseException) -> str:
    """An exception by its class and message, without addresses."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a stranger's exception may raise when it is written out
        message = ""
    cleaned = _ADDRESS.sub("0x", message).encode("utf-8", "replace").decode()
    return f"raised {type(error).__qualname__}: {cleaned[:300]}"


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
