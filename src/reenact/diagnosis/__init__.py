"""Diagnose: program -> findings that were looked at, and where possible tried."""
