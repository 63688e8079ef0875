"""Parts that every module of this layer uses: what is written to files."""
