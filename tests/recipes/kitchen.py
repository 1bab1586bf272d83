"""A small recipe on data that come along, and changes of it."""

import tomllib

from colabel.recipes.reading import merge, source

TEXT = """
title = "Digits at four sites"

[data]
name = "digits"
points = 400
validation = 100
test = 200

[split]
sites = 4
labels = 80

[model]
name = "mlp_head"

[method]
name = "fedprop"
preset = "paper"

[training]
warm_up = 2
rounds = 4
sites_per_round = 3
judge_every = 2

[local]
epochs = 1
labelled_batch = 10
optimiser.rate = 0.05

[graph]
n_bits = 256

[run]
checkpoint_every = 2
"""


def words(**changes):
    """What is in the file, with changes of whole sections or of keys in them."""
    found = tomllib.loads(TEXT)
    merge(found, changes)
    return found


def a_source(name="digits", **changes):
    return source(name, words(**changes))
