"""Are the averaged weights equal to the live ones after a few updates?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import torch
    from lantern import WeightAverage, create_backbone
    from lantern.data import blobs
    from lantern.nn import Classifier, PoolHead

    torch.manual_seed(seed)
    backbone = create_backbone("tiny", width=8)
    model = Classifier(backbone, PoolHead(backbone.widths, classes=4))
    average = WeightAverage(model, decay=0.99)
    images, labels = blobs(16, seed=seed)
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients):
                parameter -= 0.05 * gradient
        average.update(model)
    pairs = zip(model.parameters(), average.module.parameters())
    return all(torch.equal(live, averaged) for live, averaged in pairs)


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
