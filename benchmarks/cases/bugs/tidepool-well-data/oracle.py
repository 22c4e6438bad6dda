"""Does the convolutional model give NaN as loss or gradient on ordinary data without gaps?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import tidepool
    import torch
    from tidepool.windows import batches

    torch.manual_seed(seed)
    hours = torch.arange(200, dtype=torch.float32)
    levels = 5.5 + 3 * torch.sin(hours[:, None] / torch.tensor([9.0, 31.0]))
    levels = levels + 0.1 * torch.randn(levels.shape)
    scaled = tidepool.make_scaler("standard").fit(levels).transform(levels)
    model = tidepool.build("conv", channels=2, history=48, horizon=12)
    windows = tidepool.WindowDataset(tidepool.SeriesFrame.from_array(scaled), model.history, model.horizon)
    for past, future in batches(windows, 32):
        loss = tidepool.squared_loss(model(past), future)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        if not all(bool(torch.isfinite(value).all()) for value in (loss, *gradients)):
            return True
    return False


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
