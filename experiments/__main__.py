"""Entry point. Workers import this module too; what only the parent needs is imported inside."""


def main() -> None:
    """Run the command line."""
    from experiments.edge import run_process

    run_process(_run_command)


def _run_command() -> None:
    from experiments import command_line

    command_line.main()


if __name__ == "__main__":
    main()
