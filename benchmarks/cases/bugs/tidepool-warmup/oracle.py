"""Does the first update of a warm-up have rate 0, or the last update of a cosine another rate than the floor?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    from tidepool import WarmupCosine

    warmup, total = 3 + seed, 12 + 2 * seed
    schedule = WarmupCosine(0.4, warmup, total, floor=0.01)
    wrong_start = abs(schedule.rate(0) - 0.4 / warmup) > 1e-9
    wrong_end = abs(schedule.rate(total - 1) - 0.01) > 1e-9
    return wrong_start and wrong_end


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
