"""``python -m experiments.audit``."""

from experiments.audit.command import command
from experiments.commands.common import exit_with

if __name__ == "__main__":
    exit_with(command)
