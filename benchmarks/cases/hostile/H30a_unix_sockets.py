# /// case
# id = "H30a"
# title = "unix sockets in the file system"
# tries = "talks to a service of the host through its socket file, the container engine's included"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the host's socket sees no caller"
# watches = ["unix"]
# unconfined = "escapes"
# ///
import os
import socket

for place in (os.environ["CANARY_SOCKET"], "/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock",
              "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"):
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(2)
        try:
            line.connect(place)
        except OSError as refused:
            print("refused", place, refused, flush=True)
            continue
        said = "called" if place == os.environ["CANARY_SOCKET"] else "ESCAPED reached"
        print(said, place, flush=True)
