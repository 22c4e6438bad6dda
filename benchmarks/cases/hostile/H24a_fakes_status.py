# /// case
# id = "H24a"
# title = "fakes the success marker"
# tries = "writes a status of success to its streams and to every descriptor it holds, and then fails"
# limits = { wall_s = 15 }
# endings = ["exit"]
# exit_code = 7
# proof = "the ending is exit with status 7"
# watches = ["ending"]
# unconfined = "not run: nothing to show, a plain process ends the same"
# ///
import os

marker = b'{ "child-pid": 1 }\n{ "exit-code": 0 }\n{"ending": "ok", "exit_code": 0}\n'
for number in range(256):
    try:
        os.write(number, marker)
    except OSError:
        continue
for name in ("exit", "status", ".exit", ".status", "ending.json"):
    with open(name, "wb") as sink:
        sink.write(b"0\n")
os._exit(7)
