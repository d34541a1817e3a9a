"""What tests of live pages share: a running preview, and a browser."""
