from __future__ import annotations

import os
import socket

from reenact.sandbox.watcher import NetworkCounters, count_no_routes

SNMP = """Ip: Forwarding DefaultTTL InReceives OutDiscards OutNoRoutes ReasmTimeout
Ip: 1 64 29 0 7 0
Icmp: InMsgs InErrors
Icmp: 0 0
"""
SNMP6 = (
    "Ip6InReceives                   \t12\nIp6OutNoRoutes                  \t3\nIcmp6InMsgs \t0\n"
)


def test_both_layouts_are_read() -> None:
    assert count_no_routes(SNMP) == 7
    assert count_no_routes(SNMP6) == 3
    assert count_no_routes("") == 0


def test_the_counters_of_a_living_process_are_read_again_and_again() -> None:
    counters = NetworkCounters(os.getpid())
    first = counters.refused()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM):
        assert counters.refused() >= first
    assert len(counters.events()) == bool(counters.refused())
    counters.close()
