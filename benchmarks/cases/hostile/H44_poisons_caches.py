# /// case
# id = "H44"
# title = "poisons shared caches"
# tries = "leaves its code in the caches that the next run reads: pip, hub, compiled extensions, bytecode, temporary files"
# limits = { wall_s = 15 }
# runs = 2
# endings = ["ok"]
# proof = "says ESCAPED when a second run finds what the first left; the caches on the host are unchanged"
# watches = ["home", "litter"]
# unconfined = "not run: two runs on the machine itself share everything"
# ///
import os
import sys
import sysconfig

places = [os.path.expanduser("~"), os.path.expanduser("~/.cache/pip"), os.path.expanduser("~/.cache/huggingface"),
          os.path.expanduser("~/.cache/torch_extensions"), "/tmp", "/var/tmp", "/dev/shm", os.getcwd(),
          sysconfig.get_paths()["purelib"], os.path.join(sys.prefix, "lib")]
home = os.environ["CANARY_HOME"]
places += [home, f"{home}/.cache/pip", f"{home}/.cache/huggingface"]
for place in places:
    poison = f"{place}/canary-poison-{os.environ['CANARY_NONCE']}"
    if os.path.exists(poison):
        print("ESCAPED found what an earlier run left in", place, flush=True)
        continue
    try:
        os.makedirs(place, exist_ok=True)
        with open(poison, "w") as sink:
            sink.write("poison")
        print("left poison in", place, flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
