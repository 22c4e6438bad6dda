from __future__ import annotations

import pytest

from reenact.llm.prompts import number, steady


@pytest.mark.parametrize(
    ("text", "steadied"),
    [
        (
            'File "/home/ann/.venv/lib/python3.11/site-packages/torch/nn/a.py"',
            'File "site-packages/torch/nn/a.py"',
        ),
        ('File "/usr/lib/python3.11/json/decoder.py"', 'File "python3.11/json/decoder.py"'),
        ("/tmp/box-83/train.py:3", "<tmp>/train.py:3"),
        ("/home/ann/data.csv and /root/x", "<home>/data.csv and <home>/x"),
        ("<Model object at 0x7f32a81b2c40>", "<Model object at 0x...>"),
        ("2026-03-01 12:30:01,123 INFO", "<time> INFO"),
        ("2026-03-01T12:30:01Z", "<time>"),
        ("[12:30:01] step", "[<time>] step"),
        ("took 3.21s, 45ms/step, 12 seconds", "took <time>, <time>/step, <time>"),
        ("on 127.0.0.1:40123 and localhost:8080", "on <address> and <address>"),
        ("pid=4711 PID 12", "pid=<number> PID <number>"),
        ("loss 0.69314718 nan -1.23456e-05", "loss 0.6931 nan -1.235e-05"),
        ("accuracy 0.5 of 12345678.9", "accuracy 0.5 of 1.235e+07"),
        ("torch 2.13.0, python 3.11, step 12345", "torch 2.13.0, python 3.11, step 12345"),
        ("lr=0.1234567.", "lr=0.1235."),
        ("src/models/net.py:48:9", "src/models/net.py:48:9"),
        ("3 steps, 10 samples", "3 steps, 10 samples"),
    ],
)
def test_traces_of_a_machine_go(text: str, steadied: str) -> None:
    assert steady(text) == steadied
    assert steady(steadied) == steadied, "once is enough"


def test_roots_become_the_current_folder() -> None:
    text = "in /srv/jobs/7/src/a.py and /srv/jobs/77/b.py and /srv/jobs/7"
    assert steady(text, ["/srv/jobs/7/"]) == "in ./src/a.py and /srv/jobs/77/b.py and ."


def test_numbers() -> None:
    assert [number(3), number(1234567), number(0.1 + 0.2), number(1e-9)] == ["3", "1234567", "0.3", "1e-09"]
