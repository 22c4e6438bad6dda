# /// case
# id = "H35b"
# title = "memory and disks of the machine"
# tries = "opens kernel memory, the kernel log and raw disks"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED for every one that opens"
# watches = []
# unconfined = "not run: depends on the user who runs it"
# ///
import glob
import os

places = ["/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/loop-control"]
places += glob.glob("/dev/[svx]d[a-z]*") + glob.glob("/dev/nvme*") + glob.glob("/dev/dm-*") + glob.glob("/dev/vhost*")
for place in places:
    try:
        os.close(os.open(place, os.O_RDONLY))
        print("ESCAPED opened", place, flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
