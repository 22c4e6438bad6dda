# /// case
# id = "H41a"
# title = "core.fsmonitor in .git/config"
# tries = "is run by the host's git status: fsmonitor, hooks path, pager, editor, ssh command"
# limits = { wall_s = 15 }
# collect = [".git/config", "trip.sh", "tracked.txt"]
# host_step = "git"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os

trip = "#!/bin/sh\necho tripped > '" + os.environ["CANARY_TRIPWIRE"] + "'\ncat\n"
with open("trip.sh", "w") as sink:
    sink.write(trip)
os.makedirs(".git")
command = "sh ./trip.sh"
with open(".git/config", "w") as sink:
    sink.write("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    sink.write(f"\tfsmonitor = {command}\n\thooksPath = .\n\tpager = {command}\n\teditor = {command}\n\tsshCommand = {command}\n")
    sink.write(f"\taskPass = {command}\n\talternateRefsCommand = {command}\n\tgitProxy = {command}\n")
    sink.write(f"[diff]\n\texternal = {command}\n[credential]\n\thelper = !{command}\n[gpg]\n\tprogram = {command}\n")
    sink.write(f"[log]\n\tshowSignature = true\n[alias]\n\tstatus = !{command}\n\tdiff = !{command}\n")
with open("tracked.txt", "w") as sink:
    sink.write("changed by the program\n")
