"""Does training on five classes fail with a network built for five outputs?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import abacusnet as an

    x, y = an.data.clusters(classes=5, points=10, seed=seed)
    net = an.build("mlp", inputs=2, outputs=5, seed=seed)
    try:
        an.fit(net, x, y, loss=an.CrossEntropy(), optimiser=an.Adam(0.01), epochs=1)
    except IndexError as error:
        if "out of bounds" not in str(error):
            raise
        return True
    return net(x[:3]).shape != (3, 5)


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
