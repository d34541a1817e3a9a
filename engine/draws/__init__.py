"""What is drawn: the random stream of a seed, and one function for each kind of parameter."""
