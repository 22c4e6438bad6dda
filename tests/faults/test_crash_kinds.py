"""Exceptions are sorted by class, frame and values; a phrase counts only next to them, and proves nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.registry import chosen
from reenact.probe.crash import (
    Crash,
    CrashFacts,
    CrashFrame,
    CudaFacts,
    DeviceFacts,
    LayerInput,
    MemoryFacts,
    Operand,
)
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_sorting import crash_kind, sorted_crash
from reenact.probe.outcome import Outcome, OutcomeKind

LAUNCHED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def frame(module: str, function: str = "forward", owner: str = "torch") -> CrashFrame:
    return CrashFrame(f"/env/{module}.py", 7, function, module, owner)


def crashed(kind: str, message: str, at: CrashFrame, **facts: object) -> Crash:
    noted = CrashFacts(stack=(at,), by=at.owner)
    return Crash(kind, message, None, "", (), (kind, "Exception"), facts=replace(noted, **facts))  # type: ignore[arg-type]


def tensor(
    *shape: int,
    dtype: str = "torch.float32",
    device: str = "cpu",
    most: int | None = None,
) -> Operand:
    return Operand("x", shape, dtype, device, None if most is None else 0, most)


def test_a_missing_rank_is_no_shape() -> None:
    at = frame("torch.distributed.rendezvous", "_get_env_or_raise")
    crash = crashed("ValueError", "variable RANK expected", at, raised=True, unset=LAUNCHED)
    assert crash_kind(crash) is CrashKind.LAUNCHER
    # With all variables set, the same function fails for another reason.
    assert crash_kind(replace(crash, facts=replace(crash.facts, unset=()))) is CrashKind.OTHER


@pytest.mark.parametrize(
    ("available", "kind"), [(False, CrashKind.NO_GPU), (True, CrashKind.OTHER)]
)
def test_the_frame_and_the_device_tell_that_there_is_no_gpu(
    available: bool, kind: CrashKind
) -> None:
    at = frame("torch.cuda", "_lazy_init")
    cuda = CudaFacts("12.8", available)
    assert crash_kind(crashed("RuntimeError", "", at, cuda=cuda)) is kind
    elsewhere = crashed("RuntimeError", "cuda", frame("torch.cudagraphs"), cuda=cuda)
    assert crash_kind(elsewhere) is CrashKind.OTHER


@pytest.mark.parametrize(
    ("call", "operands", "kind"),
    [
        ("linear", (tensor(4, 8), tensor(2, 16)), CrashKind.SHAPE),
        ("linear", (tensor(4, 8), tensor(2, 8)), CrashKind.OTHER),
        (
            "linear",
            (tensor(4, 8, dtype="torch.float64"), tensor(2, 8)),
            CrashKind.DTYPE,
        ),
        ("linear", (tensor(4, 8, dtype="torch.int64"), tensor(2, 8)), CrashKind.DTYPE),
        ("linear", (tensor(4, 8, device="cuda:0"), tensor(2, 8)), CrashKind.DEVICE),
        ("+", (tensor(4, 8, device="cuda:0"), tensor()), CrashKind.OTHER),
        ("@", (tensor(4, 3), tensor(4, 3)), CrashKind.SHAPE),
        ("@", (tensor(4, 3), tensor(3, 5)), CrashKind.OTHER),
        ("+", (tensor(4, 3), tensor(4, 1)), CrashKind.OTHER),
        ("+", (tensor(4, 3), tensor(4, 2)), CrashKind.SHAPE),
        ("conv2d", (tensor(8, 3, 9, 9), tensor(4, 1, 3, 3)), CrashKind.SHAPE),
        ("conv2d", (tensor(8, 1, 9, 9), tensor(4, 1, 3, 3)), CrashKind.OTHER),
        (
            "embedding",
            (tensor(10, 4), tensor(3, dtype="torch.int64", most=10)),
            CrashKind.INDEX,
        ),
        (
            "embedding",
            (tensor(10, 4), tensor(3, dtype="torch.int64", most=9)),
            CrashKind.OTHER,
        ),
    ],
)
def test_the_values_decide(call: str, operands: tuple[Operand, ...], kind: CrashKind) -> None:
    crash = crashed(
        "RuntimeError",
        "",
        frame("torch.nn.modules.linear"),
        call=call,
        operands=operands,
    )
    assert sorted_crash(crash).kind is kind
    assert not sorted_crash(crash).by_words


@pytest.mark.parametrize(("most", "kind"), [(2, CrashKind.LABEL), (1, CrashKind.OTHER)])
def test_a_label_without_a_unit_is_found_by_its_number(most: int, kind: CrashKind) -> None:
    operands = (tensor(4, 2), tensor(4, dtype="torch.int64", most=most))
    at = frame("torch.nn.functional", "cross_entropy")
    assert (
        crash_kind(crashed("IndexError", "", at, call="cross_entropy_loss", operands=operands))
        is kind
    )


@pytest.mark.parametrize(
    "word", ["rank", "axis", "dimension", "channels", "dim", "shape", "dtype", "cuda"]
)
def test_a_word_alone_decides_nothing(word: str) -> None:
    assert (
        crash_kind(crashed("RuntimeError", f"a {word} is wrong", frame("torch.x")))
        is CrashKind.OTHER
    )


PHRASE = "mat1 and mat2 shapes cannot be multiplied"


@pytest.mark.parametrize(
    ("kind", "at", "expected"),
    [
        ("RuntimeError", frame("torch.nn.functional"), CrashKind.SHAPE),
        ("KeyError", frame("torch.nn.functional"), CrashKind.OTHER),
        ("RuntimeError", frame("some.package", owner="some"), CrashKind.OTHER),
        ("RuntimeError", frame("torch._utils", "reraise"), CrashKind.OTHER),
        ("RuntimeError", frame("__main__", owner="program"), CrashKind.OTHER),
    ],
)
def test_a_phrase_counts_next_to_class_and_package(
    kind: str, at: CrashFrame, expected: CrashKind
) -> None:
    assert crash_kind(crashed(kind, PHRASE, at)) is expected


def test_a_phrase_is_no_proof() -> None:
    crash = crashed("RuntimeError", PHRASE, frame("torch.nn.functional"))
    (said,) = run_detectors(
        chosen(("RE901",)),
        Evidence(outcome=Outcome(OutcomeKind.CRASHED, 1, crash=crash)),
    )
    operands = (tensor(4, 8), tensor(2, 16))
    seen = replace(crash, facts=replace(crash.facts, call="linear", operands=operands))
    (proven,) = run_detectors(
        chosen(("RE901",)),
        Evidence(outcome=Outcome(OutcomeKind.CRASHED, 1, crash=seen)),
    )
    assert (said.certainty, proven.certainty) == ("strong", "proof")
    assert said.confidence < proven.confidence


@pytest.mark.parametrize(
    ("subject", "kind"), [("numpy", CrashKind.NAME), ("program", CrashKind.OTHER)]
)
def test_an_attribute_of_a_library_is_a_matter_of_versions(subject: str, kind: CrashKind) -> None:
    at = frame("__main__", owner="program")
    assert (
        crash_kind(crashed("AttributeError", "no attribute", at, by="python", subject=subject))
        is kind
    )


def test_what_the_program_raises_itself_is_its_own_whatever_its_class() -> None:
    at = frame("__main__", "check", "program")
    for kind in ("MemoryError", "ImportError", "EOFError", "RuntimeError"):
        crash = crashed(kind, "out of memory", at, raised=True, by="program")
        assert crash_kind(crash) is CrashKind.OTHER


@pytest.mark.parametrize(
    ("subject", "kind"), [("torch", CrashKind.NAME), ("program", CrashKind.MISSING)]
)
def test_a_module_that_an_installed_package_lacks_is_of_another_version(
    subject: str, kind: CrashKind
) -> None:
    at = frame("__main__", "<module>", "program")
    crash = crashed("ModuleNotFoundError", "No module named 'torch._six'", at, subject=subject)
    assert crash_kind(crash) is kind


@pytest.mark.parametrize(
    ("function", "labels", "kind"),
    [
        ("cross_entropy", tensor(4, dtype="torch.float32"), CrashKind.DTYPE),
        ("cross_entropy", tensor(4, dtype="torch.int32"), CrashKind.DTYPE),
        ("cross_entropy", tensor(4, dtype="torch.int64", most=1), CrashKind.OTHER),
        ("cross_entropy", tensor(4, 2), CrashKind.OTHER),
        (
            "binary_cross_entropy_with_logits",
            tensor(4, 2, dtype="torch.int64"),
            CrashKind.DTYPE,
        ),
        ("binary_cross_entropy_with_logits", tensor(4, 2), CrashKind.OTHER),
        ("binary_cross_entropy_with_logits", tensor(4), CrashKind.LABEL),
        ("mse_loss", tensor(4, 5), CrashKind.LABEL),
        ("mse_loss", tensor(4, 1), CrashKind.OTHER),
    ],
)
def test_a_loss_says_which_labels_it_takes(function: str, labels: Operand, kind: CrashKind) -> None:
    at = frame("torch.nn.functional", function)
    assert crash_kind(crashed("RuntimeError", "", at, operands=(tensor(4, 2), labels))) is kind


@pytest.mark.parametrize(
    ("weights", "kind"),
    [("torch.float32", CrashKind.DTYPE), ("torch.float64", CrashKind.SHAPE)],
)
def test_a_recurrent_layer_refuses_types_or_sizes(weights: str, kind: CrashKind) -> None:
    crash = crashed("ValueError", "", frame("torch.nn.modules.rnn", "check_input"), raised=True)
    given = (LayerInput((4, 3), "torch.float64", "cpu"),)
    assert crash_kind(replace(crash, layer="LSTM", layer_inputs=given, layer_dtype=weights)) is kind


@pytest.mark.parametrize(
    ("available", "kind"), [(False, CrashKind.NO_GPU), (True, CrashKind.OTHER)]
)
def test_a_device_that_torch_does_not_have(available: bool, kind: CrashKind) -> None:
    at = frame("torch.nn.modules.module", "convert")
    assert crash_kind(crashed("RuntimeError", "", at, device=DeviceFacts("mps", available))) is kind


@pytest.mark.parametrize(
    ("asked", "numbers", "why"),
    [
        (
            "20.00 GiB",
            "asked for 21.5 GB, 140.0 GB in use, there are 150.0 GB in all",
            "use a smaller batch",
        ),
        (
            "200.00 GiB",
            "asked for 214.7 GB, 140.0 GB in use",
            "This one array is larger than the memory",
        ),
    ],
)
def test_memory_of_a_gpu_in_numbers(asked: str, numbers: str, why: str) -> None:
    at = frame("torch.nn.functional", "linear")
    message = (
        f"CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of 139.7 GiB"
    )
    memory = MemoryFacts(used=140_000_000_000, total=150_000_000_000)
    crash = crashed("OutOfMemoryError", message, at, memory=memory)
    evidence = Evidence(outcome=Outcome(OutcomeKind.CRASHED, 1, crash=crash))
    (finding,) = run_detectors(chosen(("RE905",)), evidence)
    assert numbers in finding.saw
    assert why in finding.why
