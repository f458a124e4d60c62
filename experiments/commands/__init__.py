"""What a user types: ``do=NAME`` runs ``run_command`` of the module of that name, with the settings of ``conf/do``.

Commands import everything else; nothing imports a command.
"""
