"""Programs that nobody here wrote: facts about them, and what a diagnosis says of them."""
