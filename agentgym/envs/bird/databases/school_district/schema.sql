CREATE TABLE schools (
    CDSCode TEXT NOT NULL PRIMARY KEY,
    SchoolName TEXT NOT NULL,
    SOCType TEXT NOT NULL,
    GSoffered TEXT NOT NULL,
    Charter INTEGER NOT NULL,
    Magnet INTEGER,
    OpenDate TEXT NOT NULL,
    ClosedDate TEXT,
    Street TEXT NOT NULL,
    City TEXT NOT NULL,
    Zip TEXT NOT NULL,
    Phone TEXT
);

CREATE TABLE frpm (
    CDSCode TEXT NOT NULL REFERENCES schools (CDSCode),
    acad_yr TEXT NOT NULL,
    enrl_k12 INTEGER NOT NULL,
    free_cnt INTEGER NOT NULL,
    frpm_cnt INTEGER NOT NULL,
    PRIMARY KEY (CDSCode, acad_yr)
);

CREATE TABLE budgets (
    CDSCode TEXT NOT NULL REFERENCES schools (CDSCode),
    fy INTEGER NOT NULL,
    fund_cd TEXT NOT NULL,
    budget_kusd REAL NOT NULL,
    spent_kusd REAL,
    PRIMARY KEY (CDSCode, fy, fund_cd)
);

CREATE TABLE staff (
    staff_id INTEGER NOT NULL PRIMARY KEY,
    CDSCode TEXT NOT NULL REFERENCES schools (CDSCode),
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    role_cd TEXT NOT NULL,
    hire_dt TEXT NOT NULL,
    term_dt TEXT,
    fte REAL NOT NULL,
    salary_usd INTEGER NOT NULL,
    deg TEXT
);

CREATE TABLE students (
    stu_id INTEGER NOT NULL PRIMARY KEY,
    CDSCode TEXT NOT NULL REFERENCES schools (CDSCode),
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    gender_cd TEXT NOT NULL,
    dob TEXT NOT NULL,
    gr_lvl TEXT NOT NULL,
    meal_cd TEXT NOT NULL,
    ell INTEGER NOT NULL,
    home_lang TEXT,
    entry_dt TEXT NOT NULL,
    exit_dt TEXT
);

CREATE TABLE courses (
    crs_id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    dept_cd TEXT NOT NULL,
    credits REAL NOT NULL,
    ap_yn TEXT NOT NULL
);

CREATE TABLE sections (
    sec_id INTEGER NOT NULL PRIMARY KEY,
    crs_id TEXT NOT NULL REFERENCES courses (crs_id),
    CDSCode TEXT NOT NULL REFERENCES schools (CDSCode),
    staff_id INTEGER REFERENCES staff (staff_id),
    term_cd TEXT NOT NULL,
    period INTEGER NOT NULL,
    max_seats INTEGER NOT NULL
);

CREATE TABLE enrollments (
    stu_id INTEGER NOT NULL REFERENCES students (stu_id),
    sec_id INTEGER NOT NULL REFERENCES sections (sec_id),
    pct REAL,
    mark TEXT,
    PRIMARY KEY (stu_id, sec_id)
);

CREATE TABLE test_scores (
    stu_id INTEGER NOT NULL REFERENCES students (stu_id),
    test_cd TEXT NOT NULL,
    test_yr INTEGER NOT NULL,
    scale_score INTEGER,
    perf_lvl INTEGER,
    PRIMARY KEY (stu_id, test_cd, test_yr)
);

CREATE TABLE attendance (
    stu_id INTEGER NOT NULL REFERENCES students (stu_id),
    term_cd TEXT NOT NULL,
    days_enrl INTEGER NOT NULL,
    days_abs INTEGER NOT NULL,
    days_exc INTEGER NOT NULL,
    PRIMARY KEY (stu_id, term_cd)
);

CREATE TABLE incidents (
    inc_id INTEGER NOT NULL PRIMARY KEY,
    stu_id INTEGER NOT NULL REFERENCES students (stu_id),
    rptd_by INTEGER REFERENCES staff (staff_id),
    inc_dt TEXT NOT NULL,
    type_cd TEXT NOT NULL,
    susp_days INTEGER
);
