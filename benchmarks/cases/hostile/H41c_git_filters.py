# /// case
# id = "H41c"
# title = "git filters"
# tries = "is run by the host's git for the content of files: clean and process filters, textconv, external diff"
# limits = { wall_s = 15 }
# collect = [".git/config", ".gitattributes", ".git/info/attributes", "trip.sh", "tracked.txt"]
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
os.makedirs(".git/info")
with open(".git/config", "w") as sink:
    sink.write("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    sink.write('[filter "x"]\n\tclean = sh ./trip.sh\n\tsmudge = sh ./trip.sh\n\trequired = true\n')
    sink.write('[filter "y"]\n\tprocess = sh ./trip.sh\n')
    sink.write('[diff "x"]\n\ttextconv = sh ./trip.sh\n\tcommand = sh ./trip.sh\n')
for place in (".gitattributes", ".git/info/attributes"):
    with open(place, "w") as sink:
        sink.write("* filter=x diff=x\n*.md filter=y\n")
with open("tracked.txt", "w") as sink:
    sink.write("changed by the program\n")
