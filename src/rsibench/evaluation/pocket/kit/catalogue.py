"""All families by name, in the order in which they are listed."""

from __future__ import annotations

from . import (
    clock,
    compare,
    convert,
    grid,
    order,
    query,
    rank,
    second,
    sequence,
    share,
    shop,
    stock,
    tally,
    weekday,
)
from .family import Family

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (
        shop,
        stock,
        convert,
        compare,
        clock,
        sequence,
        grid,
        order,
        query,
        tally,
        second,
        rank,
        weekday,
        share,
    )
}
