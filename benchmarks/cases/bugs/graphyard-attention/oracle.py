"""Are there parameters of an attention convolution without gradient after backward?

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
    graph = gy.datasets.grid(3, 4)
    conv = gy.make_conv("attention", 2, 8)
    (conv(graph.x, graph.edges) ** 2).sum().backward()
    return any(value.grad is None for value in conv.parameters())


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
