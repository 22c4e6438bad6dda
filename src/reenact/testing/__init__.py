"""Conformance suites that any plug-in inherits by giving one fixture."""
