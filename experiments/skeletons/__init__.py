"""What ``do=new`` writes: files that run as they are, with NAME in place of the name that a user gives."""
