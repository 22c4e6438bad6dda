# /// case
# id = "H15"
# title = "deep tree"
# tries = "leaves 3,000 nested folders, too deep for any recursive removal"
# limits = { wall_s = 20, files = 5000 }
# endings = ["ok"]
# proof = "nothing of it may be left on the host"
# watches = ["scratch"]
# unconfined = "not run: leaves a tree that is hard to remove"
# ///
import os

for _ in range(3000):
    os.mkdir("d" * 20)
    os.chdir("d" * 20)
print("3,000 deep", flush=True)
