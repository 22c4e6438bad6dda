# /// case
# id = "H40c"
# title = ".pth file"
# tries = "is run by any Python that takes the folder for its own: a .pth line and a pyvenv.cfg"
# limits = { wall_s = 15 }
# collect = ["poison.pth", "pyvenv.cfg"]
# host_step = "python"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os

trip = f"import pathlib; pathlib.Path({os.environ['CANARY_TRIPWIRE']!r}).write_text('tripped')\n"
with open("poison.pth", "w") as sink:
    sink.write(trip)
with open("pyvenv.cfg", "w") as sink:
    sink.write("home = .\n")
