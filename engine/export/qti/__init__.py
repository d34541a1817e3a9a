"""QTI 3.0: the XML of items, their response processing, and the package around them."""
