"""The ladder: one tiny decision problem per file, each adding the smallest demand to the one it stands on."""
