"""Does the pyramid head crash on images whose sides do not halve evenly?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import torch
    from lantern import create_backbone
    from lantern.nn import Classifier, PyramidHead

    torch.manual_seed(seed)
    backbone = create_backbone("tiny", width=8)
    model = Classifier(backbone, PyramidHead(backbone.widths, classes=3))
    images = torch.randn(2, 3, 30, 41, generator=torch.Generator().manual_seed(seed))
    try:
        return model(images).shape != (2, 3)
    except RuntimeError as error:
        if "must match the size of tensor" not in str(error):
            raise
        return True


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
