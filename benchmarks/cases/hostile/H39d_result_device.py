# /// case
# id = "H39d"
# title = "result is a device"
# tries = "makes the collector read /dev/zero for ever, by a node or a link"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["result-refused"]
# proof = "collecting ends and the supervisor stays small"
# watches = []
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
import os
import stat

try:
    os.mknod("result.json", stat.S_IFCHR | 0o600, os.makedev(1, 5))
except OSError:
    os.symlink("/dev/zero", "result.json")
