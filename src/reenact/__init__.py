"""reenact re-enacts deep-learning work and tells whether it holds.

Importing this package does nothing: no files, no network, no torch.
"""

__version__ = "0.1.0"
