"""Does the loss of a model in training mode depend on the batch size it is evaluated with?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import torch
    from lantern import create_backbone, evaluate
    from lantern.data import blobs
    from lantern.nn import Classifier, PoolHead

    torch.manual_seed(seed)
    backbone = create_backbone("tiny", width=8)
    model = Classifier(backbone, PoolHead(backbone.widths, classes=4)).train()
    data = blobs(40, seed=seed)
    small, large = evaluate(model, data, batch_size=5), evaluate(model, data, batch_size=40)
    return abs(small.loss - large.loss) > 1e-3


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
