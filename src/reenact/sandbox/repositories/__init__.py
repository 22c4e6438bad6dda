"""Git trees from outside: looked into and fetched without running anything of theirs."""
