# /// case
# id = "H42b"
# title = ".npy of objects"
# tries = "is run by the host that loads its predictions: an array of pickled objects"
# limits = { wall_s = 15 }
# collect = ["predictions.npy"]
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


header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
with open("predictions.npy", "wb") as sink:
    sink.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + pickle.dumps([Trip()]))
