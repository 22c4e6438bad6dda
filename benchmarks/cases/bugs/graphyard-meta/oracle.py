"""Do convolutions fail on another device than the CPU?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import graphyard as gy
    import torch

    torch.manual_seed(seed)
    graph = gy.collate(gy.datasets.cycles_or_trees(count=4, seed=seed)).to("meta")
    model = gy.GraphClassifier(1, 2, conv="gcn").to("meta")
    try:
        return model(graph).device.type != "meta"
    except RuntimeError as error:
        if "device" not in str(error):
            raise
        return True


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
