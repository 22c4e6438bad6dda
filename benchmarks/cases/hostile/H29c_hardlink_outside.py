# /// case
# id = "H29c"
# title = "writes outside through a hard link"
# tries = "links a host file into its work folder, to change or keep it"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the folders on the host are unchanged, link counts included"
# watches = ["outside"]
# unconfined = "escapes"
# ///
import os

outside, nonce = os.environ["CANARY_OUTSIDE"], os.environ["CANARY_NONCE"]
for target in ("hard", f"{outside}/hard", f"/tmp/canary-{nonce}"):
    try:
        os.link(f"{outside}/canary.txt", target)
        with open(target, "w") as sink:
            sink.write("overwritten")
        print("linked", target, flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
