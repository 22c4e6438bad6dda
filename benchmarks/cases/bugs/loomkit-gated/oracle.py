"""Does a gated block without skip connection change its output when it is saved and loaded?

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

    keras.utils.set_random_seed(seed)
    x = np.random.default_rng(seed).normal(size=(5, 3)).astype("float32")
    block = lk.GatedBlock(3, skip=False)
    before = keras.ops.convert_to_numpy(block(x))
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(block))
    again(x)
    again.set_weights(block.get_weights())
    return not np.allclose(before, keras.ops.convert_to_numpy(again(x)), atol=1e-5)


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
