"""Other libraries at the same work, each in a virtual environment of its own."""
