CREATE TABLE categories (
    cat_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    parent_id INTEGER REFERENCES categories (cat_id)
);

CREATE TABLE sellers (
    seller_id INTEGER NOT NULL PRIMARY KEY,
    shop_name TEXT NOT NULL,
    country_cd TEXT,
    joined_dt TEXT NOT NULL,
    tier_cd TEXT NOT NULL,
    fee_bp INTEGER NOT NULL
);

CREATE TABLE products (
    prod_id INTEGER NOT NULL PRIMARY KEY,
    sku TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    seller_id INTEGER NOT NULL REFERENCES sellers (seller_id),
    cat_id INTEGER NOT NULL REFERENCES categories (cat_id),
    price_cents INTEGER NOT NULL,
    weight_g INTEGER,
    stock INTEGER NOT NULL,
    delisted_dt TEXT
);

CREATE TABLE buyers (
    buyer_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT,
    country TEXT,
    signup_dt TEXT NOT NULL,
    referred_by INTEGER REFERENCES buyers (buyer_id),
    newsletter INTEGER NOT NULL
);

CREATE TABLE coupons (
    coupon_cd TEXT NOT NULL PRIMARY KEY,
    pct_off INTEGER,
    cents_off INTEGER,
    valid_from TEXT NOT NULL,
    valid_to TEXT NOT NULL
);

CREATE TABLE orders (
    order_id INTEGER NOT NULL PRIMARY KEY,
    buyer_id INTEGER NOT NULL REFERENCES buyers (buyer_id),
    placed_at TEXT NOT NULL,
    status_cd TEXT NOT NULL,
    coupon_cd TEXT REFERENCES coupons (coupon_cd),
    items_cents INTEGER NOT NULL,
    disc_cents INTEGER NOT NULL,
    ship_cents INTEGER NOT NULL,
    total_cents INTEGER NOT NULL
);

CREATE TABLE order_lines (
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    line_no INTEGER NOT NULL,
    prod_id INTEGER NOT NULL REFERENCES products (prod_id),
    qty INTEGER NOT NULL,
    unit_cents INTEGER NOT NULL,
    PRIMARY KEY (order_id, line_no)
);

CREATE TABLE payments (
    pay_id INTEGER NOT NULL PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    paid_at TEXT NOT NULL,
    method TEXT,
    amt_cents INTEGER NOT NULL,
    result_cd TEXT NOT NULL
);

CREATE TABLE shipments (
    ship_id INTEGER NOT NULL PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    carrier TEXT NOT NULL,
    shipped_dt TEXT NOT NULL,
    delivered_dt TEXT,
    weight_g INTEGER
);

CREATE TABLE returns (
    ret_id INTEGER NOT NULL PRIMARY KEY,
    order_id INTEGER NOT NULL,
    line_no INTEGER NOT NULL,
    opened_dt TEXT NOT NULL,
    reason_cd TEXT,
    qty INTEGER NOT NULL,
    refund_cents INTEGER,
    FOREIGN KEY (order_id, line_no) REFERENCES order_lines (order_id, line_no)
);

CREATE TABLE reviews (
    rev_id INTEGER NOT NULL PRIMARY KEY,
    prod_id INTEGER NOT NULL REFERENCES products (prod_id),
    buyer_id INTEGER NOT NULL REFERENCES buyers (buyer_id),
    stars INTEGER NOT NULL,
    title TEXT,
    posted_dt TEXT NOT NULL,
    helpful INTEGER NOT NULL
);
