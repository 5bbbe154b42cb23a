CREATE TABLE editions (
    ed_no INTEGER NOT NULL PRIMARY KEY,
    year INTEGER NOT NULL UNIQUE,
    start_dt TEXT NOT NULL,
    end_dt TEXT NOT NULL,
    director TEXT NOT NULL,
    budget_keur INTEGER
);

CREATE TABLE sections (
    sec_cd TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    comp_yn TEXT NOT NULL
);

CREATE TABLE films (
    film_id INTEGER NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    orig_title TEXT,
    iso2 TEXT NOT NULL,
    prod_yr INTEGER NOT NULL,
    run_sec INTEGER NOT NULL,
    form_cd TEXT NOT NULL,
    colour TEXT
);

CREATE TABLE persons (
    person_id INTEGER NOT NULL PRIMARY KEY,
    given TEXT NOT NULL,
    family TEXT NOT NULL,
    born INTEGER,
    gender_cd TEXT,
    iso2 TEXT
);

CREATE TABLE credits (
    film_id INTEGER NOT NULL REFERENCES films (film_id),
    person_id INTEGER NOT NULL REFERENCES persons (person_id),
    job_cd TEXT NOT NULL,
    PRIMARY KEY (film_id, person_id, job_cd)
);

CREATE TABLE submissions (
    sub_id INTEGER NOT NULL PRIMARY KEY,
    ed_no INTEGER NOT NULL REFERENCES editions (ed_no),
    film_id INTEGER NOT NULL REFERENCES films (film_id),
    recv_dt TEXT NOT NULL,
    platform TEXT,
    fee_ct INTEGER NOT NULL,
    verdict_cd TEXT NOT NULL
);

CREATE TABLE selections (
    ed_no INTEGER NOT NULL REFERENCES editions (ed_no),
    film_id INTEGER NOT NULL REFERENCES films (film_id),
    sec_cd TEXT NOT NULL REFERENCES sections (sec_cd),
    prem_cd TEXT,
    PRIMARY KEY (ed_no, film_id)
);

CREATE TABLE venues (
    venue_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    street TEXT NOT NULL,
    seats INTEGER NOT NULL,
    access_yn TEXT
);

CREATE TABLE screenings (
    scr_id INTEGER NOT NULL PRIMARY KEY,
    ed_no INTEGER NOT NULL REFERENCES editions (ed_no),
    film_id INTEGER NOT NULL REFERENCES films (film_id),
    venue_id INTEGER NOT NULL REFERENCES venues (venue_id),
    starts_at TEXT NOT NULL,
    kind_cd TEXT NOT NULL,
    qa_yn TEXT NOT NULL,
    status_cd TEXT NOT NULL
);

CREATE TABLE ticket_sales (
    scr_id INTEGER NOT NULL REFERENCES screenings (scr_id),
    price_cd TEXT NOT NULL,
    unit_ct INTEGER NOT NULL,
    qty INTEGER NOT NULL,
    PRIMARY KEY (scr_id, price_cd)
);

CREATE TABLE audience_votes (
    scr_id INTEGER NOT NULL REFERENCES screenings (scr_id),
    score INTEGER NOT NULL,
    ballots INTEGER NOT NULL,
    PRIMARY KEY (scr_id, score)
);

CREATE TABLE awards (
    award_id INTEGER NOT NULL PRIMARY KEY,
    ed_no INTEGER NOT NULL REFERENCES editions (ed_no),
    sec_cd TEXT NOT NULL REFERENCES sections (sec_cd),
    name TEXT NOT NULL,
    film_id INTEGER REFERENCES films (film_id),
    prize_eur INTEGER
);
