# /// case
# id = "H39h"
# title = "JSON with NaN"
# tries = "slips NaN and Infinity into the figures, which compare as nobody expects"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# host_step = "json"
# endings = ["ok"]
# proof = "the host's reader refuses it with a named error"
# watches = ["host-step"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
with open("result.json", "w") as sink:
    sink.write('{"accuracy": NaN, "loss": -Infinity, "steps": 1e999}')
