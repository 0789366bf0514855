"""Order of the tests: files with slow ones first, so that no worker is left with them at the end."""


def pytest_collection_modifyitems(items):
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
