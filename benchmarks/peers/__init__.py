"""Other graders, each in an environment of its own, on the same submissions with the same checks."""
