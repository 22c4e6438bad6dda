"""Which beans will not germinate: rare, and hard to see."""
