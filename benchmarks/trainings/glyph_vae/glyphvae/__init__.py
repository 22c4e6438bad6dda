from .model import VAE
from .data import digit_loaders
