CREATE TABLE seasons (
    yr INTEGER NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    fl_point INTEGER NOT NULL,
    prize_keur INTEGER
);

CREATE TABLE circuits (
    circuit_id INTEGER NOT NULL PRIMARY KEY,
    circuit_ref TEXT NOT NULL,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    lap_len REAL NOT NULL,
    len_unit TEXT NOT NULL,
    turns INTEGER,
    alt_m INTEGER
);

CREATE TABLE teams (
    team_id INTEGER NOT NULL PRIMARY KEY,
    team_name TEXT NOT NULL,
    nat_cd TEXT NOT NULL,
    engine TEXT NOT NULL,
    entered_yr INTEGER NOT NULL
);

CREATE TABLE drivers (
    driver_id INTEGER NOT NULL PRIMARY KEY,
    code TEXT NOT NULL,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    dob TEXT NOT NULL,
    nat_cd TEXT,
    height_cm INTEGER
);

CREATE TABLE seats (
    yr INTEGER NOT NULL REFERENCES seasons (yr),
    driver_id INTEGER NOT NULL REFERENCES drivers (driver_id),
    team_id INTEGER NOT NULL REFERENCES teams (team_id),
    car_no INTEGER NOT NULL,
    from_rnd INTEGER NOT NULL,
    to_rnd INTEGER,
    salary_keur INTEGER,
    PRIMARY KEY (yr, driver_id)
);

CREATE TABLE races (
    race_id INTEGER NOT NULL PRIMARY KEY,
    yr INTEGER NOT NULL REFERENCES seasons (yr),
    rnd INTEGER NOT NULL,
    circuit_id INTEGER NOT NULL REFERENCES circuits (circuit_id),
    race_name TEXT NOT NULL,
    race_dt TEXT NOT NULL,
    start_utc TEXT,
    laps INTEGER NOT NULL,
    half_pts INTEGER NOT NULL,
    wet INTEGER
);

CREATE TABLE qualifying (
    race_id INTEGER NOT NULL REFERENCES races (race_id),
    driver_id INTEGER NOT NULL REFERENCES drivers (driver_id),
    q_pos INTEGER NOT NULL,
    q1 TEXT,
    q2 TEXT,
    q3 TEXT,
    PRIMARY KEY (race_id, driver_id)
);

CREATE TABLE results (
    race_id INTEGER NOT NULL REFERENCES races (race_id),
    driver_id INTEGER NOT NULL REFERENCES drivers (driver_id),
    team_id INTEGER NOT NULL REFERENCES teams (team_id),
    grid INTEGER NOT NULL,
    pos INTEGER,
    pos_txt TEXT NOT NULL,
    pts REAL NOT NULL,
    laps_done INTEGER NOT NULL,
    time_ms INTEGER,
    fl_ms INTEGER,
    fl_rank INTEGER,
    status TEXT NOT NULL,
    PRIMARY KEY (race_id, driver_id)
);

CREATE TABLE pit_stops (
    race_id INTEGER NOT NULL REFERENCES races (race_id),
    driver_id INTEGER NOT NULL REFERENCES drivers (driver_id),
    stop_no INTEGER NOT NULL,
    lap INTEGER NOT NULL,
    dur_ms INTEGER NOT NULL,
    tyre_cd TEXT,
    PRIMARY KEY (race_id, driver_id, stop_no)
);

CREATE TABLE penalties (
    pen_id INTEGER NOT NULL PRIMARY KEY,
    race_id INTEGER NOT NULL REFERENCES races (race_id),
    driver_id INTEGER NOT NULL REFERENCES drivers (driver_id),
    pen_cd TEXT NOT NULL,
    lic_pts INTEGER,
    reason TEXT NOT NULL
);

CREATE TABLE standings (
    race_id INTEGER NOT NULL REFERENCES races (race_id),
    driver_id INTEGER NOT NULL REFERENCES drivers (driver_id),
    pts REAL NOT NULL,
    pos INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    PRIMARY KEY (race_id, driver_id)
);
