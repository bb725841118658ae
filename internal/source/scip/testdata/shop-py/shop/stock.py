"""Articles and their prices."""

from typing import Protocol

RATE = 0.9


class Finder(Protocol):
    """Finds prices by name."""

    def find(self, name: str) -> int:
        """Return the price of an article in cents."""
        ...


class Shelf(Finder):
    """Has articles with their prices."""

    def __init__(self) -> None:
        self.prices: dict[str, int] = {}

    def put(self, name: str, cents: int) -> "Shelf":
        self.prices[_normalize(name)] = cents
        return self

    def find(self, name: str) -> int:
        return self.prices[_normalize(name)]

    @property
    def size(self) -> int:
        return len(self.prices)


class Discounted(Shelf):
    """Finds prices on a shelf, and lowers them."""

    def find(self, name: str) -> int:
        return round(super().find(name) * RATE)


def _normalize(name: str) -> str:
    return name.strip().lower()
