# /// case
# id = "H42d"
# title = "malicious dataset"
# tries = "is run by the host that loads its data set: a bare pickle named like an archive of arrays"
# limits = { wall_s = 15 }
# collect = ["dataset.npz", "dataset.pkl"]
# host_step = "array"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os
import pickle


class Trip:
    def __reduce__(self):
        return exec, (f"import pathlib; pathlib.Path({os.environ['CANARY_TRIPWIRE']!r}).write_text('tripped')",)


for name in ("dataset.npz", "dataset.pkl"):
    with open(name, "wb") as sink:
        sink.write(pickle.dumps({"x": Trip()}))
