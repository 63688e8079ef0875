"""The files that leave the product: plain values in, text, bytes or JSON values out."""
