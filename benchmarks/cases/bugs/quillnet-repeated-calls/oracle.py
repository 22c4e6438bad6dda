"""Do repeated completions of a short prompt run out of positions?

python oracle.py [SEED], with the project on the path: exits 1 when the bug shows, 0 when not, 125 when it could not
run.
"""

import sys
import traceback

SHOWN, NOT_SHOWN, COULD_NOT_RUN = 1, 0, 125


def shows(seed):
    import torch
    from quillnet import LanguageModel, ModelOptions, Vocabulary, complete

    torch.manual_seed(seed)
    vocabulary = Vocabulary.of_characters("abc")
    model = LanguageModel(ModelOptions(vocabulary=len(vocabulary), width=16, heads=2, positions=32))
    try:
        texts = {complete(model, vocabulary, "cab", length=8) for _ in range(6)}
    except ValueError as error:
        if "is beyond the 32 positions" not in str(error):
            raise
        return True
    return len(texts) > 1


if __name__ == "__main__":
    try:
        shown = shows(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT_RUN)
    sys.exit(SHOWN if shown else NOT_SHOWN)
