# /// case
# id = "H35a"
# title = "kernel knobs"
# tries = "opens core_pattern, sysrq and other knobs of the kernel for writing; it writes nothing"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED for every knob that opens"
# watches = []
# unconfined = "not run: depends on the user who runs it"
# ///
import os

for place in (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/modprobe",
    "/proc/sysrq-trigger", "/proc/sys/fs/binfmt_misc/register", "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/cgroup.procs", "/sys/kernel/debug/sleep_time", "/proc/1/oom_score_adj",
):
    try:
        os.close(os.open(place, os.O_WRONLY))
    except OSError as refused:
        print("refused", refused, flush=True)
        continue
    if place == "/proc/1/oom_score_adj":
        print("open", place, flush=True)
    else:
        print("ESCAPED opened", place, flush=True)
