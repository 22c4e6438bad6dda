# /// case
# id = "B10"
# title = "8 GiB on the GPU"
# does = "allocates, fills and frees 8 GiB of GPU memory under a host memory limit of 4 GiB"
# limits = { wall_s = 60, memory_mib = 4096 }
# needs = ["gpu"]
# gpu = true
# endings = ["ok"]
# ///
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
device, context, block = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device) == 0
size = ctypes.c_size_t(8 * 1024**3)
assert cuda.cuMemAlloc_v2(ctypes.byref(block), size) == 0, "the driver refused 8 GiB"
assert cuda.cuMemsetD8_v2(block, ctypes.c_ubyte(1), size) == 0
assert cuda.cuCtxSynchronize() == 0
assert cuda.cuMemFree_v2(block) == 0
print("BENIGN done")
