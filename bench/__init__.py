"""Measurements behind every number that colabel claims. See bench/README.md."""
