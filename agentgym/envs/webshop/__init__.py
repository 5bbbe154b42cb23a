"""WebShop: find a product that fits an instruction in a web shop, and buy it."""
