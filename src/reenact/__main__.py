"""`python -m reenact` and the `reenact` script."""

from __future__ import annotations


def main() -> None:
    """Hand over to the command line."""
    from reenact.cli.main import run

    run()


if __name__ == "__main__":
    main()
