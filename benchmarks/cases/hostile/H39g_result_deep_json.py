# /// case
# id = "H39g"
# title = "deep JSON"
# tries = "makes the host's parser run out of stack: 100,000 nested lists"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# host_step = "json"
# endings = ["ok"]
# proof = "the host's reader refuses it with a named error"
# watches = ["host-step"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
with open("result.json", "w") as sink:
    sink.write("[" * 100_000 + "]" * 100_000)
