# /// case
# id = "H14"
# title = "core dump flood"
# tries = "raises its core limit and lets eight children of 40 MB die of SIGABRT"
# limits = { wall_s = 20 }
# endings = ["ok"]
# proof = "says ESCAPED when a core file is found beside it"
# watches = ["scratch"]
# unconfined = "not run: the machine's own core pattern decides"
# ///
import os
import resource

_, hard = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
for _ in range(8):
    child = os.fork()
    if child == 0:
        ballast = bytearray(b"x") * (40 * 1024 * 1024)
        os.abort()
    os.waitpid(child, 0)
cores = [name for name in os.listdir(".") if name.startswith("core")]
print("ESCAPED core files" if cores else "no core file", cores, flush=True)
