"""Sphinx configuration."""

project = "colabel"
author = "the colabel authors"
copyright = "2026, the colabel authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest"]
html_theme = "furo"
html_title = "colabel"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
nitpicky = False
