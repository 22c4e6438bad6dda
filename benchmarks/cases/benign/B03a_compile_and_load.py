# /// case
# id = "B03a"
# title = "compile and dlopen in the workspace"
# does = "compiles a C extension with the system's compiler and loads it, as triton and inductor do"
# limits = { wall_s = 60 }
# needs = ["compiler"]
# endings = ["ok"]
# ///
import ctypes
import os
import subprocess

with open("add.c", "w") as sink:
    sink.write("double add(double a, double b) { return a + b; }\n")
subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", "add.so", "add.c"], check=True)
add = ctypes.CDLL(os.path.abspath("add.so")).add
add.restype, add.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double]
assert add(2.0, 3.5) == 5.5
print("BENIGN done")
