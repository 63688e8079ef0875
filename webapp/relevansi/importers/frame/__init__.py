"""Parts that every module of this layer uses: where files are read."""
