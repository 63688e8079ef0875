"""Tables, the engine that holds them, and the migrations that shape them."""
