"""Do two samplers of popular negatives with the same seed draw different items?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import matchbook as mb
    import torch

    torch.manual_seed(seed)
    log = mb.toy_log(users=20, items=30, seed=seed)
    users, _ = log.pairs()
    first, second = (mb.PopularSampler(log, seed=9).sample(users, 2) for _ in range(2))
    return not torch.equal(first, second)


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
