NAME = "the package"
