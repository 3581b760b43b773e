"""Reference algorithms, one file each, to be read top to bottom. `rldebug train NAME` runs them."""
