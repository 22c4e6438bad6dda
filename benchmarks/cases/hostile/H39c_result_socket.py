# /// case
# id = "H39c"
# title = "result is a socket"
# tries = "makes the collector open a socket"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["result-refused"]
# proof = "collecting ends"
# watches = []
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
import socket

socket.socket(socket.AF_UNIX).bind("result.json")
