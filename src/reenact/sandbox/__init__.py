"""One door to any untrusted execution.

box           what goes in and comes out: Command, Limits, BoxResult, and the protocol Sandbox
choose        which sandbox to use here; what each is missing and does not stop

bubblewrap    tier: namespaces, filter of system calls, watcher (the default on Linux)
container     tier: Docker or Podman          engine        talks to the engine
sandlock      tier: the package of that name  confine       its script
none          tier: a plain process, for trusted code alone

execute       the life of one box: make, fill, start, watch, name its end, collect, remove
folder        where boxes lie on the host, and the sweep of those whose owner died
fill          files and workspace in          collect       results out, nothing followed
cleanup       removes any tree                strict_json   reads JSON made to harm its reader
environ       the clean environment           view          the part of the host that is shown
launch        starts bubblewrap               plain_launch  starts without namespaces
hold          what both need before the start reaper        the parent that leaves nothing behind
started       a running box                   supervise     waits for its end
watcher       says which limit was crossed    output        what is printed, bounded
processes     tasks, memory, CPU time         plain_text    without control sequences
disk          room of visible files           hidden        room of files without a name
cgroup        hard limits by the kernel       network       notices a wish for the network
seccomp       which system calls are refused  bpf           its assembler
syscalls      their numbers
"""
