# /// case
# id = "H39e"
# title = "sparse result"
# tries = "claims 10 GB in a file that takes no room"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["result-refused", "disk-limit"]
# proof = "collecting ends and the supervisor stays small"
# watches = []
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
with open("result.json", "wb") as sink:
    try:
        sink.truncate(10 * 1024**3)
    except OSError:
        sink.truncate(40 * 1024**2)
