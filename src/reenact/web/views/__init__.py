"""A story's result as sections of a page, one story a file. What they read is what the story stored."""
