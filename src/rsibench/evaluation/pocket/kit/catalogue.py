"""All families by name, in the order in which they are listed."""

from __future__ import annotations

from . import convert, grid, order, pick, query, rank, second, shop
from .family import Family

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY for module in (shop, convert, grid, pick, second, rank, order, query)
}
