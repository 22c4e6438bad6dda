# /// case
# id = "H39f"
# title = "huge result"
# tries = "makes the supervisor hold 32 MB where 1 MB was agreed"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["result-refused"]
# proof = "collecting ends and the supervisor stays small"
# watches = []
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
with open("result.json", "wb") as sink:
    sink.write(b"[" + b"1," * (16 * 1024 * 1024) + b"1]")
