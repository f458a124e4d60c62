"""Entry point. Workers import this module too; what only the parent needs is imported inside."""

if __name__ == "__main__":
    from experiments.command_line import main

    main()
