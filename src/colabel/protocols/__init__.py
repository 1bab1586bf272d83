"""Protocols between the sites and the server, each in one file, without I/O.

A file reads top to bottom: who learns what, the messages, the site's side, the server's side.
"""
