# /// case
# id = "H29b"
# title = "writes outside through a symbolic link"
# tries = "writes through links in its work folder and swaps the folder itself for a link"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the folders on the host are unchanged"
# watches = ["outside"]
# unconfined = "escapes"
# ///
import os

outside = os.environ["CANARY_OUTSIDE"]
os.symlink(outside, "folder")
os.symlink(f"{outside}/canary.txt", "file")
for act in (
    lambda: open("file", "w").write("overwritten"),
    lambda: open("folder/planted", "w").write("planted"),
    lambda: os.rename(os.getcwd(), os.getcwd() + "-moved"),
    lambda: os.symlink(outside, os.getcwd()),
):
    try:
        act()
        print("done", flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
