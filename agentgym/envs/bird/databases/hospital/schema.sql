CREATE TABLE departments (
    dept_cd TEXT NOT NULL PRIMARY KEY,
    dept_name TEXT NOT NULL,
    floor_no INTEGER NOT NULL,
    beds INTEGER NOT NULL
);

CREATE TABLE physicians (
    phys_id INTEGER NOT NULL PRIMARY KEY,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    dept_cd TEXT NOT NULL REFERENCES departments (dept_cd),
    rank_cd TEXT NOT NULL,
    superv_id INTEGER REFERENCES physicians (phys_id),
    hire_dt TEXT NOT NULL,
    left_dt TEXT
);

CREATE TABLE insurers (
    ins_cd TEXT NOT NULL PRIMARY KEY,
    ins_name TEXT NOT NULL,
    plan_type TEXT NOT NULL
);

CREATE TABLE patients (
    pat_id INTEGER NOT NULL PRIMARY KEY,
    mrn TEXT NOT NULL UNIQUE,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    sex TEXT,
    dob TEXT NOT NULL,
    abo_rh TEXT,
    city TEXT,
    ins_cd TEXT REFERENCES insurers (ins_cd),
    death_dt TEXT
);

CREATE TABLE admissions (
    adm_id INTEGER NOT NULL PRIMARY KEY,
    pat_id INTEGER NOT NULL REFERENCES patients (pat_id),
    dept_cd TEXT NOT NULL REFERENCES departments (dept_cd),
    phys_id INTEGER NOT NULL REFERENCES physicians (phys_id),
    adm_ts TEXT NOT NULL,
    disch_ts TEXT,
    adm_type TEXT NOT NULL,
    disch_disp TEXT,
    icu_hrs INTEGER
);

CREATE TABLE icd (
    icd_cd TEXT NOT NULL PRIMARY KEY,
    descr TEXT NOT NULL,
    chapter TEXT NOT NULL,
    chronic INTEGER NOT NULL
);

CREATE TABLE diagnoses (
    adm_id INTEGER NOT NULL REFERENCES admissions (adm_id),
    seq_no INTEGER NOT NULL,
    icd_cd TEXT NOT NULL REFERENCES icd (icd_cd),
    poa TEXT,
    PRIMARY KEY (adm_id, seq_no)
);

CREATE TABLE lab_tests (
    test_cd TEXT NOT NULL PRIMARY KEY,
    test_name TEXT NOT NULL,
    unit TEXT NOT NULL,
    ref_low REAL NOT NULL,
    ref_high REAL NOT NULL
);

CREATE TABLE labs (
    lab_id INTEGER NOT NULL PRIMARY KEY,
    adm_id INTEGER NOT NULL REFERENCES admissions (adm_id),
    test_cd TEXT NOT NULL REFERENCES lab_tests (test_cd),
    coll_ts TEXT NOT NULL,
    val_num REAL,
    val_txt TEXT,
    unit TEXT NOT NULL
);

CREATE TABLE prescriptions (
    rx_id INTEGER NOT NULL PRIMARY KEY,
    adm_id INTEGER NOT NULL REFERENCES admissions (adm_id),
    drug TEXT NOT NULL,
    dose REAL NOT NULL,
    dose_unit TEXT NOT NULL,
    route_cd TEXT NOT NULL,
    freq_cd TEXT NOT NULL,
    start_dt TEXT NOT NULL,
    stop_dt TEXT
);

CREATE TABLE claims (
    claim_id INTEGER NOT NULL PRIMARY KEY,
    adm_id INTEGER NOT NULL REFERENCES admissions (adm_id),
    ins_cd TEXT REFERENCES insurers (ins_cd),
    filed_dt TEXT NOT NULL,
    billed_usd REAL NOT NULL,
    paid_usd REAL,
    status TEXT NOT NULL
);
