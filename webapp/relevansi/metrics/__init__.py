"""Every figure that is computed from the judgments: plain values in, plain values out."""
