"""All families by name, in the order in which they are listed."""

from __future__ import annotations

from . import compare, convert, grid, order, query, rank, second, shop, tally, weekday
from .family import Family

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (shop, convert, grid, tally, second, compare, rank, weekday, order, query)
}
