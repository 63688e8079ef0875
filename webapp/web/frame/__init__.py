"""What every module of this layer uses: pages."""
