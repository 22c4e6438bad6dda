"""One door to any untrusted execution."""
