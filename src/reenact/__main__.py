"""`python -m reenact` and the `reenact` script."""


def main() -> None:
    """Hand over to the command line."""
    from reenact.own_process import leave_folder

    leave_folder()
    try:
        from reenact.cli.ending import run_owned
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run_owned()


if __name__ == "__main__":
    from reenact.own_process import leave_first_entry

    leave_first_entry()
    main()
