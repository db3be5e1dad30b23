"""Fakes and fixtures that are real implementations, and conformance suites that authors of plugins subclass."""
