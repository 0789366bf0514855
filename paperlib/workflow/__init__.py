"""From a notebook to its results. Read by Snakemake and run.py: nothing here imports torch."""

from .plan import (
    after, checked, code, convert, digest, everything, figures, fingerprint, forget_incomplete, imports, inputs, notebook, products, results, root, section,
    settings, shards, stems,
)

__all__ = [
    "after", "checked", "code", "convert", "digest", "everything", "figures", "fingerprint", "forget_incomplete", "imports", "inputs", "notebook", "products",
    "results", "root", "section", "settings", "shards", "stems",
]
