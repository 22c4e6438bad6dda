"""Does a model converted to bfloat16 crash when it is called?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import torch
    from quillnet import LanguageModel, ModelOptions

    torch.manual_seed(seed)
    model = LanguageModel(ModelOptions(vocabulary=12, width=16, heads=2, positions=24)).to(torch.bfloat16)
    try:
        return model(torch.tensor([[3, 4, 5]])).dtype is not torch.bfloat16
    except RuntimeError as error:
        if not any(word in str(error) for word in ("dtype", "scalar type")):
            raise
        return True


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
