"""A reproducible companion to papers on bandit and global optimization.

Each paper has a package of its own (``paperlib.glbomd``); the modules beside this one hold what
the papers share. Importing ``paperlib`` imports none of them.
"""

__version__ = "0.1.0"
