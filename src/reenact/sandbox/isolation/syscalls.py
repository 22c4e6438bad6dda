"""Numbers of the system calls that a box is refused, for the machines we know."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Machine:
    """One kernel interface: how seccomp names it, and the numbers of the calls we refuse or look into."""

    audit: int
    numbers: MappingProxyType[str, int]
    second_interface_bit: int = 0
    """A bit in the number that selects another interface with other numbers (x32)."""


_NUMBERS = """
    ioctl                  16   29
    shmget                 29  194
    socket                 41  198
    socketpair             53  199
    clone                  56  220
    ptrace                101  117
    syslog                103  116
    uselib                134    -
    personality           135   92
    sysfs                 139    -
    vhangup               153   58
    modify_ldt            154    -
    pivot_root            155   41
    _sysctl               156    -
    adjtimex              159  171
    chroot                161   51
    acct                  163   89
    settimeofday          164  170
    mount                 165   40
    umount2               166   39
    swapon                167  224
    swapoff               168  225
    reboot                169  142
    sethostname           170  161
    setdomainname         171  162
    iopl                  172    -
    ioperm                173    -
    create_module         174    -
    init_module           175  105
    delete_module         176  106
    get_kernel_syms       177    -
    query_module          178    -
    quotactl              179   60
    nfsservctl            180   42
    lookup_dcookie        212   18
    clock_settime         227  112
    kexec_load            246  104
    add_key               248  217
    request_key           249  218
    keyctl                250  219
    migrate_pages         256  238
    unshare               272   97
    move_pages            279  239
    fallocate             285   47
    perf_event_open       298  241
    fanotify_init         300  262
    name_to_handle_at     303  264
    open_by_handle_at     304  265
    clock_adjtime         305  266
    setns                 308  268
    process_vm_readv      310  270
    process_vm_writev     311  271
    kcmp                  312  272
    finit_module          313  273
    kexec_file_load       320  294
    bpf                   321  280
    userfaultfd           323  282
    io_uring_setup        425  425
    io_uring_enter        426  426
    io_uring_register     427  427
    open_tree             428  428
    move_mount            429  429
    fsopen                430  430
    fsconfig              431  431
    fsmount               432  432
    fspick                433  433
    clone3                435  435
    pidfd_getfd           438  438
    process_madvise       440  440
    mount_setattr         442  442
    quotactl_fd           443  443
    memfd_secret          447  447
    open_tree_attr        467  467
"""
"""Name, number on x86_64, number on aarch64; a dash where the call is not there."""


def _column(index: int) -> MappingProxyType[str, int]:
    rows = [line.split() for line in _NUMBERS.strip().splitlines()]
    return MappingProxyType({row[0]: int(row[index]) for row in rows if row[index] != "-"})


MACHINES = MappingProxyType(
    {
        "x86_64": Machine(0xC000003E, _column(1), second_interface_bit=0x40000000),
        "aarch64": Machine(0xC00000B7, _column(2)),
    }
)
