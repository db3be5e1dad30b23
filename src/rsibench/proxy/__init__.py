"""The model proxy: an outside model asked through us: no key leaves the controller, every call is metered."""
