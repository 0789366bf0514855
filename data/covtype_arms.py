"""Make covtype_arms.csv and covtype_arms.json from UCI's Covertype: ``python data/covtype_arms.py``.

Needs the data set (PAPERLIB_DATA, the cache or the network; see README.md), up to a minute and 360 MB.
``python -m companion.datasets covertype_arms`` compares without writing.
"""

import sys
from pathlib import Path

import sklearn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from companion.datasets.covertype import build_table, write_table
from companion.datasets.registry import REGISTRY, load_covertype

if __name__ == "__main__":
    clusters, seed = 60, 7
    source = REGISTRY["covertype"]
    write_table(
        build_table(*load_covertype(), clusters, seed),
        {
            "made_by": "data/covtype_arms.py",
            "source": source.file,
            "sha256": source.sha256,
            "cite": source.cite,
            "license": source.license,
            "method": f"KMeans({clusters}, n_init=1, random_state={seed})",
            "scikit-learn": sklearn.__version__,
        },
    )
