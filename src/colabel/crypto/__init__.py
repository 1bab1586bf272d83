"""Primitives only: each file one primitive, composed from PyCA's. Not audited."""
