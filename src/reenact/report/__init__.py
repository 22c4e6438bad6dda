"""Renders any result: terminal, concise, json, sarif, github, html, markdown."""
