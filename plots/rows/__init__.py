"""What pages and the terminal show in rows: claims, printed numbers, costs, and the strips that draw them."""
