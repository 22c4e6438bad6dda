"""The report as files: REPORT.md beside the project. The page with links is made by the doors."""
