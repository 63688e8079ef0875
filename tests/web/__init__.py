"""The pages, asked for as a browser asks for them."""
