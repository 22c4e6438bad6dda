# /// case
# id = "H39i"
# title = "JSON with duplicate keys"
# tries = "shows one value to one reader and another to the next"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# host_step = "json"
# endings = ["ok"]
# proof = "the host's reader refuses it with a named error"
# watches = ["host-step"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
with open("result.json", "w") as sink:
    sink.write('{"accuracy": 0.1, "accuracy": 0.99}')
