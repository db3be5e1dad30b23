"""The pocket benchmark: program-made families with exact verifiers, small enough for a laptop."""

from rsibench.evaluation.pocket.items import make_items

__all__ = ["make_items"]
