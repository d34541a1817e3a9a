"""What families build their plans with: draws, usual cases, right gradients."""
