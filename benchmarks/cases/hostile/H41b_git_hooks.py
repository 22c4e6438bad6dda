# /// case
# id = "H41b"
# title = "git hooks"
# tries = "is run by the host's git: every hook that a look or an edit of the index triggers"
# limits = { wall_s = 15 }
# collect = [".git/config", ".git/hooks/post-index-change", ".git/hooks/fsmonitor-watchman", ".git/hooks/pre-commit", ".git/hooks/post-checkout", ".git/hooks/reference-transaction", "tracked.txt"]
# host_step = "git"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os

trip = "#!/bin/sh\necho tripped > '" + os.environ["CANARY_TRIPWIRE"] + "'\n"
os.makedirs(".git/hooks")
for name in ("post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction"):
    with open(f".git/hooks/{name}", "w") as sink:
        sink.write(trip)
    os.chmod(f".git/hooks/{name}", 0o755)
with open(".git/config", "w") as sink:
    sink.write("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = .git/hooks/fsmonitor-watchman\n")
with open("tracked.txt", "w") as sink:
    sink.write("changed by the program\n")
