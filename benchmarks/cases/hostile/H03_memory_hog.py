# /// case
# id = "H03"
# title = "memory in one process"
# tries = "touches 3 GB in one process"
# limits = { wall_s = 20, memory_mib = 256 }
# endings = ["memory-limit"]
# proof = "says ESCAPED once 3 GB are held"
# watches = []
# unconfined = "not run: takes 3 GB of the machine"
# ///
held = []
for _ in range(96):
    held.append(bytearray(b"x") * (32 * 1024 * 1024))
print("ESCAPED 3 GB held", flush=True)
