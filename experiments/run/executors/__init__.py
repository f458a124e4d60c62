"""Where cells are run, and tasks beside them: on this machine or a cluster, handed out in one way."""
