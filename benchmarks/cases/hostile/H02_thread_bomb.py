# /// case
# id = "H02"
# title = "thread bomb"
# tries = "starts 600 threads in one process"
# limits = { wall_s = 15, processes = 64, memory_mib = 512 }
# endings = ["process-limit"]
# proof = "says ESCAPED once 600 threads live"
# watches = ["processes"]
# unconfined = "escapes"
# ///
import os
import threading
import time

threading.stack_size(256 * 1024)
alive = 0
for _ in range(3000):
    try:
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    except RuntimeError:
        time.sleep(0.005)
        continue
    alive += 1
    if alive == 600:
        print("ESCAPED 600 threads live", flush=True)
        break
os._exit(0)
