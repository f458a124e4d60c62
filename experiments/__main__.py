"""Entry point. Workers import this module too; what only the parent needs is imported inside."""


def main() -> None:
    """Run the command line."""
    from experiments import command_line

    command_line.main()


if __name__ == "__main__":
    main()
