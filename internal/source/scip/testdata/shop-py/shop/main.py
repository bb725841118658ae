"""The program of the shop."""

from shop.stock import Discounted, Finder, Shelf


def total(finder: Finder, names: list[str]) -> int:
    """Add the prices of articles."""
    return sum(finder.find(name) for name in names)


def open_shop(cheap: bool) -> Shelf:
    shelf = Discounted() if cheap else Shelf()

    def fill(name: str) -> Shelf:
        return shelf.put(name, 100)

    for name in ("apple", "pear"):
        fill(name)
    return shelf.put("plum", 250)


print(total(open_shop(True), ["apple", "plum"]))
