"""What a user types: ``do=NAME`` runs ``run_command`` of the module of that name, with the settings of ``conf/do``.

The first comment in ``conf/do/NAME.yaml`` is the line of the command in ``--help`` and on the page of commands.
Commands import everything else; nothing imports a command.
"""
