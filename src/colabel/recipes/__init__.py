"""Recipes: a training run, or a whole table of a paper, as one TOML file.

file → reading (rows, columns, scales) → format (checked structs) → building (sites, plan, judges)
→ running (run folder, checkpoints, report) → tables (cells, results, the paper beside ours)

Reading needs no torch, so that lists and messages about a file are there at once.
"""
