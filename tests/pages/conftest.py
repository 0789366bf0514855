"""Pages are of the checkout's own folders, whatever the environment names, also where a fixture of a module makes them."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def here():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ROOT", "FIGURES", "RESULTS"):
            patch.delenv(f"PAPERLIB_{name}", raising=False)
        yield
