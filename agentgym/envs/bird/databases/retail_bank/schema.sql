CREATE TABLE branches (
    branch_id INTEGER NOT NULL PRIMARY KEY,
    br_name TEXT NOT NULL,
    city TEXT NOT NULL,
    region_cd TEXT NOT NULL,
    opened_dt TEXT NOT NULL,
    mgr_name TEXT
);

CREATE TABLE clients (
    client_id INTEGER NOT NULL PRIMARY KEY,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    sex TEXT,
    birth_dt TEXT NOT NULL,
    city TEXT,
    seg_cd TEXT NOT NULL,
    join_dt TEXT NOT NULL,
    kyc_dt TEXT,
    phone TEXT
);

CREATE TABLE accounts (
    acct_no TEXT NOT NULL PRIMARY KEY,
    branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
    acct_type TEXT NOT NULL,
    ccy TEXT NOT NULL,
    open_dt TEXT NOT NULL,
    close_dt TEXT,
    od_limit_cents INTEGER
);

CREATE TABLE disp (
    disp_id INTEGER NOT NULL PRIMARY KEY,
    client_id INTEGER NOT NULL REFERENCES clients (client_id),
    acct_no TEXT NOT NULL REFERENCES accounts (acct_no),
    role_cd TEXT NOT NULL
);

CREATE TABLE cards (
    card_id INTEGER NOT NULL PRIMARY KEY,
    disp_id INTEGER NOT NULL REFERENCES disp (disp_id),
    card_type TEXT NOT NULL,
    issued TEXT NOT NULL,
    status_cd TEXT NOT NULL
);

CREATE TABLE trans (
    trans_id INTEGER NOT NULL PRIMARY KEY,
    acct_no TEXT NOT NULL REFERENCES accounts (acct_no),
    t_date TEXT NOT NULL,
    type TEXT NOT NULL,
    op_cd TEXT NOT NULL,
    amt_cents INTEGER NOT NULL,
    bal_cents INTEGER NOT NULL,
    memo TEXT
);

CREATE INDEX trans_of_account ON trans (acct_no);

CREATE TABLE loans (
    loan_id INTEGER NOT NULL PRIMARY KEY,
    acct_no TEXT NOT NULL REFERENCES accounts (acct_no),
    grant_dt TEXT NOT NULL,
    principal_eur INTEGER NOT NULL,
    term_mo INTEGER NOT NULL,
    apr_bp INTEGER NOT NULL,
    pmt_cents INTEGER NOT NULL,
    status TEXT NOT NULL
);

CREATE TABLE loan_pmts (
    loan_id INTEGER NOT NULL REFERENCES loans (loan_id),
    inst_no INTEGER NOT NULL,
    due_dt TEXT NOT NULL,
    paid_dt TEXT,
    PRIMARY KEY (loan_id, inst_no)
);

CREATE TABLE orders (
    order_id INTEGER NOT NULL PRIMARY KEY,
    acct_no TEXT NOT NULL REFERENCES accounts (acct_no),
    bank_to TEXT NOT NULL,
    amt_cents INTEGER NOT NULL,
    freq_cd TEXT NOT NULL,
    k_symbol TEXT
);

CREATE TABLE fx_rates (
    mon TEXT NOT NULL,
    ccy TEXT NOT NULL,
    eur_per_unit REAL NOT NULL,
    PRIMARY KEY (mon, ccy)
);
