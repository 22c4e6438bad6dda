# /// case
# id = "H39m"
# title = "JSON with an absurd number"
# tries = "makes the host convert a number of a million digits"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# host_step = "json"
# endings = ["ok"]
# proof = "the host's reader refuses it with a named error"
# watches = ["host-step"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
with open("result.json", "w") as sink:
    sink.write('{"steps": ' + "9" * 900_000 + "}")
