"""From codes to labels, as functions on arrays.

codes -> distances -> neighbours -> weights -> normalise -> propagate -> scores: each runs alone,
none knows of sites or messages.
"""
