"""Real implementations of the project's protocols for tests, and for the tests of plugin authors."""
