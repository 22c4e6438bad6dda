"""Does the noise layer change its input outside training?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import keras
    import loomkit as lk
    import numpy as np

    x = np.random.default_rng(seed).normal(size=(5, 3)).astype("float32")
    layer = lk.FeatureNoise(0.3, seed=seed)
    return not np.array_equal(keras.ops.convert_to_numpy(layer(x, training=False)), x)


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
