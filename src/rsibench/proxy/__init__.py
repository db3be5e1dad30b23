"""The model proxy: an outside model asked through us, so that no key leaves the controller and every call is metered."""
