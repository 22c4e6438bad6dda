# /// case
# id = "H40a"
# title = "json.py in the workspace"
# tries = "is imported by a host helper in place of the standard library"
# limits = { wall_s = 15 }
# collect = ["json.py", "random.py"]
# host_step = "python"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os

trip = f"import pathlib; pathlib.Path({os.environ['CANARY_TRIPWIRE']!r}).write_text('tripped')\n"
for name in ("json.py", "random.py"):
    with open(name, "w") as sink:
        sink.write(trip)
