"""All families by name, in the order in which they are listed."""

from __future__ import annotations

from . import age, convert, date, grid, member, order, query, shop
from .family import Family

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY for module in (shop, convert, grid, age, member, date, order, query)
}
