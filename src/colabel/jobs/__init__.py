"""The jobs, each one function from sites to an outcome: label (train and cotrain are to come)."""
