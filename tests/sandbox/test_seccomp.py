"""The filter, judged by a small interpreter for both kinds of machine, and by the kernel of
this one.
"""

from __future__ import annotations

import errno
import struct
import sys

import pytest

from reenact.sandbox.box import Command, Limits
from reenact.sandbox.seccomp import MACHINES, box_filter
from reenact.sandbox.tiers.bubblewrap import Bubblewrap

ALLOWED = "allowed"


def judge(program: bytes, architecture: int, number: int, *arguments: int) -> str:
    """What the kernel would do with one call: `allowed`, or the name of the error it gets."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    at = word = 0
    while True:
        code, yes, no, value = struct.unpack_from("<HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            (word,) = struct.unpack_from("<I", data, value)
        elif code == 0x15:
            at += yes if word == value else no
        elif code == 0x45:
            at += yes if word & value else no
        else:
            return ALLOWED if value == 0x7FFF0000 else errno.errorcode[value & 0xFFFF]


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_every_call(name: str) -> None:
    machine, program = MACHINES[name], box_filter(name)
    assert program is not None

    def call(what: str, *arguments: int) -> str:
        return judge(program, machine.audit, machine.numbers[what], *arguments)

    refused = {
        "keyctl",
        "add_key",
        "bpf",
        "io_uring_setup",
        "userfaultfd",
        "ptrace",
        "mount",
        "unshare",
        "setns",
        "kexec_load",
    }
    assert {call(what) for what in refused} == {"EPERM"}
    assert call("clone3") == "ENOSYS"
    assert call("shmget") == "ENOSYS"
    assert call("fallocate") == "ENOTSUP"
    assert call("clone", 0x10000000 | 17) == "EPERM"
    assert call("clone", 0x00020000) == "EPERM"
    assert call("clone", 17) == ALLOWED
    assert call("clone", 0x3D0F00) == ALLOWED
    assert call("personality", 0) == ALLOWED
    assert call("personality", 0x0040000) == "EPERM"
    assert call("ioctl", 0, 0x5412) == "EPERM"
    assert call("ioctl", 0, 0xFFFFFFFF_00005412) == "EPERM"
    assert call("ioctl", 0, 0x5401) == ALLOWED
    for what in ("socket", "socketpair"):
        assert call(what, 1, 1) == ALLOWED
        assert call(what, 2, 1, 0) == ALLOWED
        assert call(what, 10, 2, 17) == ALLOWED
        assert call(what, 16, 3, 0) == ALLOWED
        assert call(what, 16, 3, 9) == "EAFNOSUPPORT"
        assert call(what, 2, 5, 132) == "EAFNOSUPPORT"
        assert {call(what, family) for family in (17, 38, 40, 44)} == {"EAFNOSUPPORT"}


def test_calls_of_everyday_are_allowed_and_other_interfaces_are_not() -> None:
    x86, arm = box_filter("x86_64"), box_filter("aarch64")
    assert x86 is not None
    assert arm is not None
    for number in (0, 1, 9, 57, 58, 59, 202, 231, 257, 319, 424, 434):
        assert judge(x86, MACHINES["x86_64"].audit, number) == ALLOWED
    for number in (56, 63, 64, 93, 98, 221, 222, 279, 434):
        assert judge(arm, MACHINES["aarch64"].audit, number) == ALLOWED
    assert judge(x86, 0x40000003, 1) == "EPERM"
    assert judge(x86, MACHINES["x86_64"].audit, 0x40000000 | 1) == "ENOSYS"
    assert judge(arm, 0x40000028, 1) == "EPERM"


def test_a_machine_we_do_not_know_has_no_filter() -> None:
    assert box_filter("riscv64") is None


def test_the_kernel_takes_the_filter_and_threads_and_forks_live_under_it() -> None:
    if box_filter() is None or Bubblewrap().missing():
        pytest.skip("no filter or no bubblewrap here")
    numbers = dict(MACHINES[__import__("platform").machine()].numbers)
    program = f"""
import ctypes, os, threading
libc = ctypes.CDLL(None, use_errno=True)
numbers = {numbers!r}
for name in ("keyctl", "io_uring_setup", "bpf", "userfaultfd", "ptrace", "pidfd_getfd", "memfd_secret"):
    ctypes.set_errno(0)
    assert libc.syscall(ctypes.c_long(numbers[name]), 0, 0, 0, 0, 0) == -1, name
    assert ctypes.get_errno() == 1, (name, ctypes.get_errno())
threads = [threading.Thread(target=os.getpid) for _ in range(32)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
os.posix_fallocate(os.open("file", os.O_CREAT | os.O_RDWR), 0, 100_000)
assert os.stat("file").st_size == 100_000
assert "Seccomp:\\t2" in open("/proc/self/status").read()
"""
    result = Bubblewrap().run(Command((sys.executable, "-c", program)), Limits())
    assert result.ok, result.output
