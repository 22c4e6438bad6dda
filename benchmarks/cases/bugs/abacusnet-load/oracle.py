"""Is a saved residual network refused by one that is built in the same way?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import tempfile

    import abacusnet as an
    import numpy as np

    x = np.random.default_rng(seed).normal(size=(20, 3))
    y = (x[:, 0] > 0).astype(int)
    net = an.build("residual", inputs=3, seed=seed)
    an.fit(net, x, y, loss=an.CrossEntropy(), optimiser=an.Adam(0.01), epochs=2)
    with tempfile.TemporaryDirectory() as folder:
        net.save(f"{folder}/net.npz")
        try:
            again = an.build("residual", inputs=3, seed=seed + 1).load(f"{folder}/net.npz")
        except ValueError as error:
            if "does not fit this network" not in str(error):
                raise
            return True
    return not np.allclose(net(x), again(x))


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
