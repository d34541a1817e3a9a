"""The submissions of the benchmarks, what is known of them, and how Softmark is measured on them."""
