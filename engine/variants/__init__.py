"""From a problem's spec and a seed to one concrete variant with its key."""
