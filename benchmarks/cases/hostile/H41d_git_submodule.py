# /// case
# id = "H41d"
# title = "git submodule and include"
# tries = "is run by the host's git through a submodule's own config, a config included from the work tree and an ext:: address"
# limits = { wall_s = 15 }
# collect = [".git/config", ".gitmodules", "sub/.git/config", "sub/.git/HEAD", "evil.config", "trip.sh", "tracked.txt"]
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
os.makedirs("sub/.git")
evil = "[core]\n\tfsmonitor = sh ./trip.sh\n\thooksPath = .\n[diff]\n\texternal = sh ./trip.sh\n"
with open("evil.config", "w") as sink:
    sink.write(evil)
with open(".git/config", "w") as sink:
    sink.write("[core]\n\trepositoryformatversion = 0\n\tbare = false\n[include]\n\tpath = ../evil.config\n")
    sink.write('[submodule "sub"]\n\turl = ext::sh ./trip.sh\n\tactive = true\n\tupdate = !sh ./trip.sh\n')
    sink.write("[submodule]\n\trecurse = true\n[protocol]\n\tallow = always\n")
with open(".gitmodules", "w") as sink:
    sink.write('[submodule "sub"]\n\tpath = sub\n\turl = ext::sh ./trip.sh\n')
with open("sub/.git/config", "w") as sink:
    sink.write(evil)
with open("sub/.git/HEAD", "w") as sink:
    sink.write("ref: refs/heads/main\n")
with open("tracked.txt", "w") as sink:
    sink.write("changed by the program\n")
