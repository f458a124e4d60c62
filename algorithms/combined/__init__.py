"""Methods made of others of the house, between which what is public decides."""
