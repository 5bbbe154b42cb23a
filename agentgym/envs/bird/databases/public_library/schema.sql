CREATE TABLE branches (
    branch_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    street TEXT NOT NULL,
    opened_yr INTEGER NOT NULL,
    floor_m2 INTEGER NOT NULL,
    phone TEXT,
    sun_yn TEXT NOT NULL
);

CREATE TABLE publishers (
    pub_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT NOT NULL
);

CREATE TABLE authors (
    author_id INTEGER NOT NULL PRIMARY KEY,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    born INTEGER,
    died INTEGER
);

CREATE TABLE titles (
    title_id INTEGER NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    pub_id INTEGER NOT NULL REFERENCES publishers (pub_id),
    pub_yr INTEGER NOT NULL,
    lang_cd TEXT NOT NULL,
    genre_cd TEXT NOT NULL,
    medium_cd TEXT NOT NULL,
    pages INTEGER,
    run_min INTEGER
);

CREATE TABLE title_authors (
    title_id INTEGER NOT NULL REFERENCES titles (title_id),
    author_id INTEGER NOT NULL REFERENCES authors (author_id),
    role_cd TEXT NOT NULL,
    PRIMARY KEY (title_id, author_id, role_cd)
);

CREATE TABLE copies (
    barcode TEXT NOT NULL PRIMARY KEY,
    title_id INTEGER NOT NULL REFERENCES titles (title_id),
    branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
    acq_dt TEXT NOT NULL,
    price_cents INTEGER,
    status_cd TEXT NOT NULL
);

CREATE TABLE members (
    member_id INTEGER NOT NULL PRIMARY KEY,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    dob TEXT,
    cat_cd TEXT NOT NULL,
    town TEXT,
    home_branch INTEGER NOT NULL REFERENCES branches (branch_id),
    join_dt TEXT NOT NULL,
    email TEXT
);

CREATE TABLE loans (
    loan_id INTEGER NOT NULL PRIMARY KEY,
    barcode TEXT NOT NULL REFERENCES copies (barcode),
    member_id INTEGER NOT NULL REFERENCES members (member_id),
    out_dt TEXT NOT NULL,
    due_dt TEXT NOT NULL,
    ret_dt TEXT,
    ret_branch INTEGER REFERENCES branches (branch_id),
    renewals INTEGER NOT NULL
);

CREATE TABLE fines (
    fine_id INTEGER NOT NULL PRIMARY KEY,
    loan_id INTEGER NOT NULL REFERENCES loans (loan_id),
    reason_cd TEXT NOT NULL,
    amt_cents INTEGER NOT NULL,
    issued_dt TEXT NOT NULL,
    paid_dt TEXT,
    waived_yn TEXT NOT NULL
);

CREATE TABLE holds (
    hold_id INTEGER NOT NULL PRIMARY KEY,
    title_id INTEGER NOT NULL REFERENCES titles (title_id),
    member_id INTEGER NOT NULL REFERENCES members (member_id),
    pickup_branch INTEGER NOT NULL REFERENCES branches (branch_id),
    placed_dt TEXT NOT NULL,
    ready_dt TEXT,
    status_cd TEXT NOT NULL
);

CREATE TABLE events (
    event_id INTEGER NOT NULL PRIMARY KEY,
    branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    starts_at TEXT NOT NULL,
    dur_min INTEGER NOT NULL,
    capacity INTEGER
);

CREATE TABLE signups (
    event_id INTEGER NOT NULL REFERENCES events (event_id),
    member_id INTEGER NOT NULL REFERENCES members (member_id),
    attended INTEGER,
    PRIMARY KEY (event_id, member_id)
);
