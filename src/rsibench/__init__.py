"""RSIBench-Data: measures whether an agent can improve a fixed language model by changing only its training data.

Importing this package loads nothing heavy; every library beyond the standard one is loaded where it is used.
"""

from rsibench.version import __version__

__all__ = ["__version__"]
