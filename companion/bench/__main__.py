"""``python -m companion.bench``: times every learner on this machine."""

import sys

from .report import main

sys.exit(main())
