"""``python -m companion.datasets [names]``: show the data sets and fetch them."""

import sys

from .registry import main

sys.exit(main(sys.argv[1:]))
