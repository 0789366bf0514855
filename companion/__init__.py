"""Companion of ``paperlib`` to its papers: claims, experiments, figures, notebooks and pages.

Each paper has its own package here, for example ``companion.glbomd`` for the library's ``paperlib.glbomd``. The companion
imports the library, never the reverse (``tests/test_house.py``).
"""
