"""Algorithms, problems and theorems of papers on bandits and global optimization.

Each paper has its own package, for example ``paperlib.glbomd``. The modules next to this file contain the
code that the papers share. Importing ``paperlib`` imports neither the packages nor these modules.
"""

__version__ = "0.1.0"
