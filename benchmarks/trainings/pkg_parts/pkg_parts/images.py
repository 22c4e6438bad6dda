"""Grey pictures of machine parts, 0..255 as a camera gives them."""
import numpy as np

KINDS = ("bolt", "nut", "washer", "plate")


def picture(kind, rng, size=20):
    yy, xx = np.mgrid[:size, :size] - (size - 1) / 2
    yy, xx = yy - rng.uniform(-2, 2), xx - rng.uniform(-2, 2)
    r = np.hypot(xx, yy)
    if kind == 0:
        shape = (np.abs(xx) < 2) | ((np.abs(yy + 5) < 2) & (np.abs(xx) < 5))
    elif kind == 1:
        shape = (np.maximum(np.abs(xx), np.abs(yy) * 0.9 + np.abs(xx) * 0.4) < 6) & (r > 3)
    elif kind == 2:
        shape = (r < 6.5) & (r > 4)
    else:
        shape = (np.abs(xx) < 6) & (np.abs(yy) < 4)
    img = 90 + 70 * shape * rng.uniform(0.5, 1.2) + rng.normal(0, 18, (size, size))
    return np.clip(img, 0, 255).astype(np.uint8)


def collect(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(KINDS), n)
    return np.stack([picture(k, rng) for k in labels]), labels
