"""The one way to any untrusted execution.

box           what goes in and comes out: Command, Limits, BoxResult, and the protocol Sandbox
choose        which sandbox to use here; what each is missing and does not stop
execute       the life of one box: make, fill, start, watch, name its end, collect, remove
again         runs a box again that was killed from outside

tiers/        bubblewrap (the default on Linux), container, sandlock, none; how each starts a program
view          the part of the host that is shown, the clean environment; seccomp: system calls
supervise     watches a running box: what it prints; watcher: which limit it crossed; processes, disk: what it
              uses; cgroup: hard limits
files/        box folders, files in, results out, harmless readers, clean-up
environments/ prepared virtual environments: built with the network, for runs that have none
repository    git trees from outside, read without running anything of theirs
"""
