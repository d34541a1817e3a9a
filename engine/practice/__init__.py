"""Practice on one's own machine: starter files, regrading on every save, hints; nothing is recorded."""
