"""What pages and the terminal show in rows: claims, printed numbers, and the strips that draw them."""
