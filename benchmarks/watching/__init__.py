"""What watching a training costs."""
