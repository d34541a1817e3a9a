"""The rules, one file each; every rule takes a subject and yields findings."""
