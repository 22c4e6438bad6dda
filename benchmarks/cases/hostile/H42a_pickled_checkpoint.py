# /// case
# id = "H42a"
# title = "malicious checkpoint"
# tries = "is run by the host that loads its weights: a pickle in the shape of a checkpoint"
# limits = { wall_s = 15 }
# collect = ["model.pt"]
# needs = ["torch"]
# host_step = "tensors"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os
import pickle
import zipfile


class Trip:
    def __reduce__(self):
        return exec, (f"import pathlib; pathlib.Path({os.environ['CANARY_TRIPWIRE']!r}).write_text('tripped')",)


with zipfile.ZipFile("model.pt", "w") as archive:
    archive.writestr("model/data.pkl", pickle.dumps({"weights": Trip()}, protocol=2))
    archive.writestr("model/version", "3\n")
    archive.writestr("model/byteorder", "little")
