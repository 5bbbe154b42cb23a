CREATE TABLE regions (
    region_cd TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    lat REAL NOT NULL
);

CREATE TABLE substations (
    sub_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    region_cd TEXT NOT NULL REFERENCES regions (region_cd),
    cap_mva REAL NOT NULL,
    built_yr INTEGER
);

CREATE TABLE tariffs (
    tariff_cd TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    imp_ct_kwh REAL NOT NULL,
    exp_ct_kwh REAL NOT NULL,
    standing_ct_day REAL NOT NULL
);

CREATE TABLE customers (
    cust_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    cust_type TEXT NOT NULL,
    tariff_cd TEXT NOT NULL REFERENCES tariffs (tariff_cd),
    since_dt TEXT NOT NULL,
    pay_method TEXT,
    paperless INTEGER NOT NULL
);

CREATE TABLE sites (
    site_id INTEGER NOT NULL PRIMARY KEY,
    cust_id INTEGER NOT NULL REFERENCES customers (cust_id),
    sub_id INTEGER NOT NULL REFERENCES substations (sub_id),
    addr TEXT NOT NULL,
    town TEXT NOT NULL,
    roof_m2 REAL
);

CREATE TABLE equipment (
    model_id INTEGER NOT NULL PRIMARY KEY,
    maker TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    rated_w INTEGER NOT NULL,
    warranty_yr INTEGER NOT NULL
);

CREATE TABLE installations (
    inst_id INTEGER NOT NULL PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites (site_id),
    model_id INTEGER NOT NULL REFERENCES equipment (model_id),
    qty INTEGER NOT NULL,
    inst_dt TEXT NOT NULL,
    tilt_deg INTEGER,
    azimuth_deg INTEGER,
    removed_dt TEXT
);

CREATE TABLE meters (
    meter_id TEXT NOT NULL PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites (site_id),
    channel TEXT NOT NULL,
    unit TEXT NOT NULL
);

CREATE TABLE readings (
    meter_id TEXT NOT NULL REFERENCES meters (meter_id),
    read_dt TEXT NOT NULL,
    register REAL NOT NULL,
    qual_cd TEXT NOT NULL,
    PRIMARY KEY (meter_id, read_dt)
);

CREATE TABLE weather (
    region_cd TEXT NOT NULL REFERENCES regions (region_cd),
    obs_dt TEXT NOT NULL,
    irr_wh_m2 INTEGER,
    tmax_c REAL,
    PRIMARY KEY (region_cd, obs_dt)
);

CREATE TABLE bills (
    bill_id INTEGER NOT NULL PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites (site_id),
    period TEXT NOT NULL,
    imp_kwh REAL NOT NULL,
    exp_kwh REAL NOT NULL,
    amt_ct INTEGER NOT NULL,
    due_dt TEXT NOT NULL,
    paid_dt TEXT
);

CREATE TABLE outages (
    outage_id INTEGER NOT NULL PRIMARY KEY,
    sub_id INTEGER NOT NULL REFERENCES substations (sub_id),
    start_ts TEXT NOT NULL,
    end_ts TEXT,
    cause_cd TEXT,
    cust_out INTEGER NOT NULL,
    planned_yn TEXT NOT NULL
);

CREATE TABLE visits (
    visit_id INTEGER NOT NULL PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites (site_id),
    visit_dt TEXT NOT NULL,
    tech TEXT NOT NULL,
    mins INTEGER,
    fault TEXT,
    cost_ct INTEGER NOT NULL
);
