# /// case
# id = "B06"
# title = "caches in HOME"
# does = "finds a writable HOME of its own and keeps fonts, hub files with links, and settings there"
# limits = { wall_s = 60 }
# endings = ["ok"]
# ///
import fcntl
import os
import pathlib

home = pathlib.Path.home()
assert os.access(home, os.W_OK), home
fonts = home / ".cache" / "matplotlib"
fonts.mkdir(parents=True)
(fonts / "fontlist.json").write_text("{}")
hub = home / ".cache" / "huggingface" / "hub" / "models--x"
(hub / "blobs").mkdir(parents=True)
(hub / "snapshots").mkdir()
(hub / "blobs" / "abc").write_bytes(b"weights" * 1000)
(hub / "snapshots" / "model.bin").symlink_to("../blobs/abc")
assert (hub / "snapshots" / "model.bin").read_bytes().startswith(b"weights")
with open(hub / ".lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    (hub / "part").write_bytes(b"x")
    os.replace(hub / "part", hub / "whole")
config = home / ".config" / "tool"
config.mkdir(parents=True)
(config / "settings.ini").write_text("[a]\n")
print("BENIGN done")
