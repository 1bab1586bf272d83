"""The algorithms as conversations (the server's side) and what a site answers."""
