"""One fault, one file, one page: rules/<component>/<fault>.py."""
