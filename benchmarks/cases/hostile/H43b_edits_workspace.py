# /// case
# id = "H43b"
# title = "edits the workspace it was given"
# tries = "rewrites the tests, the seed and the claimed results in the user's own folder"
# limits = { wall_s = 15 }
# workspace = true
# endings = ["ok"]
# proof = "the user's folder on the host is unchanged; the program works on a copy"
# watches = ["workspace"]
# unconfined = "not run: every tier works on a copy"
# ///
import os
import shutil

assert os.path.exists("train.py"), "the copy of the workspace is not here"
with open("train.py", "a") as sink:
    sink.write("\nseed = 1  # the lucky one\n")
with open("tests/test_metric.py", "w") as sink:
    sink.write("def test_accuracy():\n    pass\n")
os.remove("claims.json")
shutil.rmtree("data")
