# /// case
# id = "H12"
# title = "GPU memory hog"
# tries = "takes all memory of the first GPU and holds it until long after the deadline"
# limits = { wall_s = 8 }
# needs = ["gpu"]
# gpu = true
# endings = ["timeout"]
# proof = "the GPU's used memory is back where it was once the box is gone"
# watches = ["gpu", "processes"]
# unconfined = "not run: takes the GPU"
# ///
import ctypes
import signal
import time

cuda = ctypes.CDLL("libcuda.so.1")
device, context, block = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device) == 0
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held, size = 0, 1 << 30
while size >= 1 << 20:
    if cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(size)) == 0:
        held += size
    else:
        size //= 2
print("holds", held >> 20, "MiB", flush=True)
time.sleep(60)
