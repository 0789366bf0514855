"""``python -m companion.bench``: time every learner on this machine."""

import sys

from .report import main

sys.exit(main())
