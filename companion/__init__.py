"""What turns ``paperlib`` into a companion to its papers: claims, experiments, figures, notebooks, pages.

Each paper has a package of its own (``companion.glbomd``), beside the one of the library (``paperlib.glbomd``). The companion
imports the library, never the reverse (``tests/test_house.py``).
"""
