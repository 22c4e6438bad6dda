"""Does the BPR loss grow with the number of negatives?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import torch
    from matchbook import bpr_loss

    generator = torch.Generator().manual_seed(seed)
    pos = torch.randn(6, generator=generator)
    neg = torch.randn(6, 1, generator=generator)
    one, many = bpr_loss(pos, neg), bpr_loss(pos, neg.expand(6, 16))
    return bool((many - one).abs() > 1e-3)


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
