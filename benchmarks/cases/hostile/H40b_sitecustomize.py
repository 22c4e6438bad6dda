# /// case
# id = "H40b"
# title = "sitecustomize.py"
# tries = "is run by any Python that starts in the folder"
# limits = { wall_s = 15 }
# collect = ["sitecustomize.py", "usercustomize.py"]
# host_step = "python"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os

trip = f"import pathlib; pathlib.Path({os.environ['CANARY_TRIPWIRE']!r}).write_text('tripped')\n"
for name in ("sitecustomize.py", "usercustomize.py"):
    with open(name, "w") as sink:
        sink.write(trip)
