"""The kinds of exceptions that rules tell apart."""

from enum import StrEnum


class CrashKind(StrEnum):
    """What ended the program."""

    ARGUMENTS = "arguments"
    KEYBOARD = "keyboard"
    LAUNCHER = "launcher"
    NO_GPU = "no-gpu"
    MEMORY = "memory"
    MISSING = "missing"
    NAME = "name"
    DEVICE = "device"
    INDEX = "index"
    LABEL = "label"
    DTYPE = "dtype"
    SHAPE = "shape"
    OTHER = "other"
