# /// case
# id = "H29a"
# title = "writes outside by path"
# tries = "writes, removes and re-modes files outside its work folder, also by way of /proc/*/root and .."
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the folders on the host are unchanged"
# watches = ["outside", "home", "litter"]
# unconfined = "escapes"
# ///
import os

outside, home, nonce = (os.environ["CANARY_" + name] for name in ("OUTSIDE", "HOME", "NONCE"))
targets = [outside, home, "/var/tmp", "/dev/shm", "/tmp"]
targets += [prefix + folder for prefix in ("/proc/1/root", "/proc/self/root", "../../../../..") for folder in (outside, home)]
for folder in targets:
    try:
        with open(f"{folder}/canary-{nonce}", "w") as sink:
            sink.write("planted")
        print("wrote in", folder, flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
for act in (
    lambda: os.truncate(f"{outside}/canary.txt", 0),
    lambda: os.chmod(f"{outside}/secret.txt", 0o777),
    lambda: os.rename(f"{outside}/canary.txt", f"{outside}/renamed.txt"),
):
    try:
        act()
    except OSError as refused:
        print("refused", refused, flush=True)
