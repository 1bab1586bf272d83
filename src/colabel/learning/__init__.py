"""Learning with torch, on tensors and arrays: models, what a site does in a round, aggregation.

Nothing here knows of messages. A method is a composition of *terms*: see `terms`, and
`federation.methods` for those that have a name.
"""
