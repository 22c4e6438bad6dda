# /// case
# id = "H13"
# title = "endless GPU kernel"
# tries = "launches a kernel that never returns and waits for it in the driver, deaf to SIGTERM"
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

PTX = b""".version 6.0
.target sm_50
.address_size 64
.visible .entry spin(.param .u64 flag)
{
    .reg .u64 %a;
    .reg .u32 %v;
    .reg .pred %p;
    ld.param.u64 %a, [flag];
again:
    ld.volatile.global.u32 %v, [%a];
    setp.eq.u32 %p, %v, 0;
    @%p bra again;
    ret;
}
\0"""
cuda = ctypes.CDLL("libcuda.so.1")
device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
flag = ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"spin") == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(flag), ctypes.c_size_t(4)) == 0
assert cuda.cuMemsetD32_v2(flag, 0, ctypes.c_size_t(1)) == 0
arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(flag), ctypes.c_void_p))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None) == 0
print("spins", flush=True)
cuda.cuCtxSynchronize()
