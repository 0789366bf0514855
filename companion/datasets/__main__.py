"""``python -m companion.datasets [names]``: shows the data sets and fetches them."""

import sys

from .registry import main

sys.exit(main(sys.argv[1:]))
