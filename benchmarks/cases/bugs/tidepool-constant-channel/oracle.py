"""Does a channel that never varies make the loss of an untrained model NaN?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import tidepool
    import torch

    torch.manual_seed(seed)
    values = tidepool.synthetic.harbour(length=60, seed=seed).values
    values = torch.cat([values, torch.full((len(values), 1), 0.5)], dim=1)
    scaled = tidepool.make_scaler("standard").fit(values).transform(values)
    windows = tidepool.WindowDataset(tidepool.SeriesFrame.from_array(scaled), history=12, horizon=3)
    past, future = windows[0]
    model = tidepool.build("linear", channels=4, history=12, horizon=3)
    return not bool(torch.isfinite(tidepool.squared_loss(model(past[None]), future[None])))


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
