"""The jobs, each one function from sites to an outcome: label, train (cotrain is to come)."""
