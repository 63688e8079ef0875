"""What leaves the product: plain values in, text, bytes or JSON values out."""
