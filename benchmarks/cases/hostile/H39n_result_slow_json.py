# /// case
# id = "H39n"
# title = "JSON that is slow to read"
# tries = "makes the host's reader take quadratic time: one string of escaped quotes that never ends"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# host_step = "json"
# endings = ["ok"]
# proof = "the host's reader refuses it with a named error, and in time"
# watches = ["host-step"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
with open("result.json", "w") as sink:
    sink.write('"' + '\\"' * 400_000)
