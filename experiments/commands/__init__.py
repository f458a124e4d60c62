"""What a user types. Commands import everything else; nothing imports a command."""
