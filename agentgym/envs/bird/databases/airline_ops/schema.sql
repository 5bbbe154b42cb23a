CREATE TABLE airports (
    iata TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    elev_ft INTEGER NOT NULL,
    tz_min INTEGER NOT NULL,
    hub_yn TEXT NOT NULL
);

CREATE TABLE aircraft_types (
    type_cd TEXT NOT NULL PRIMARY KEY,
    maker TEXT NOT NULL,
    model TEXT NOT NULL,
    seats_y INTEGER NOT NULL,
    seats_j INTEGER NOT NULL,
    range_nm INTEGER NOT NULL,
    mtow_kg INTEGER NOT NULL
);

CREATE TABLE aircraft (
    tail_no TEXT NOT NULL PRIMARY KEY,
    type_cd TEXT NOT NULL REFERENCES aircraft_types (type_cd),
    base_iata TEXT NOT NULL REFERENCES airports (iata),
    owner_cd TEXT NOT NULL,
    delivery_dt TEXT NOT NULL,
    retired_dt TEXT
);

CREATE TABLE routes (
    route_id INTEGER NOT NULL PRIMARY KEY,
    flt_no TEXT NOT NULL UNIQUE,
    orig_iata TEXT NOT NULL REFERENCES airports (iata),
    dest_iata TEXT NOT NULL REFERENCES airports (iata),
    dist_nm INTEGER NOT NULL,
    block_min INTEGER NOT NULL,
    active_yn TEXT NOT NULL
);

CREATE TABLE delay_codes (
    delay_cd TEXT NOT NULL PRIMARY KEY,
    category TEXT NOT NULL,
    descr TEXT NOT NULL
);

CREATE TABLE flights (
    flight_id INTEGER NOT NULL PRIMARY KEY,
    route_id INTEGER NOT NULL REFERENCES routes (route_id),
    tail_no TEXT NOT NULL REFERENCES aircraft (tail_no),
    sched_dep TEXT NOT NULL,
    sched_arr TEXT NOT NULL,
    act_dep TEXT,
    act_arr TEXT,
    status TEXT NOT NULL,
    delay_cd TEXT REFERENCES delay_codes (delay_cd),
    div_iata TEXT REFERENCES airports (iata),
    pax_y INTEGER,
    pax_j INTEGER,
    fuel_kg INTEGER
);

CREATE TABLE crew (
    crew_id INTEGER NOT NULL PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    role_cd TEXT NOT NULL,
    base_iata TEXT NOT NULL REFERENCES airports (iata),
    hire_dt TEXT NOT NULL,
    email TEXT
);

CREATE TABLE crew_ratings (
    crew_id INTEGER NOT NULL REFERENCES crew (crew_id),
    type_cd TEXT NOT NULL REFERENCES aircraft_types (type_cd),
    valid_to TEXT NOT NULL,
    PRIMARY KEY (crew_id, type_cd)
);

CREATE TABLE crew_assignments (
    flight_id INTEGER NOT NULL REFERENCES flights (flight_id),
    crew_id INTEGER NOT NULL REFERENCES crew (crew_id),
    duty_cd TEXT NOT NULL,
    PRIMARY KEY (flight_id, crew_id)
);

CREATE TABLE bookings (
    pnr TEXT NOT NULL PRIMARY KEY,
    booked_at TEXT NOT NULL,
    channel TEXT,
    contact_email TEXT
);

CREATE TABLE tickets (
    ticket_no INTEGER NOT NULL PRIMARY KEY,
    pnr TEXT NOT NULL REFERENCES bookings (pnr),
    flight_id INTEGER NOT NULL REFERENCES flights (flight_id),
    pax_name TEXT NOT NULL,
    cabin TEXT NOT NULL,
    fare_cents INTEGER NOT NULL,
    bags INTEGER,
    coupon_st TEXT NOT NULL
);

CREATE TABLE maint_events (
    event_id INTEGER NOT NULL PRIMARY KEY,
    tail_no TEXT NOT NULL REFERENCES aircraft (tail_no),
    kind TEXT NOT NULL,
    opened TEXT NOT NULL,
    closed TEXT,
    man_hours REAL,
    cost_usd REAL,
    remark TEXT
);
