from .data import make_splits
from .model import GaitEncoder

__all__ = ["make_splits", "GaitEncoder"]
