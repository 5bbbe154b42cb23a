CREATE TABLE venues (
    venue_id INTEGER NOT NULL PRIMARY KEY,
    v_name TEXT NOT NULL,
    town TEXT NOT NULL,
    boards INTEGER NOT NULL,
    rent_cents INTEGER
);

CREATE TABLE members (
    mem_id INTEGER NOT NULL PRIMARY KEY,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    sex TEXT,
    dob TEXT NOT NULL,
    town TEXT,
    mem_type TEXT NOT NULL,
    title_cd TEXT,
    fed_id TEXT,
    join_dt TEXT NOT NULL,
    leave_dt TEXT
);

CREATE TABLE tournaments (
    tour_id INTEGER NOT NULL PRIMARY KEY,
    t_name TEXT NOT NULL,
    venue_id INTEGER NOT NULL REFERENCES venues (venue_id),
    start_dt TEXT NOT NULL,
    end_dt TEXT NOT NULL,
    rounds INTEGER NOT NULL,
    tc TEXT NOT NULL,
    rated_yn TEXT NOT NULL,
    fee_cents INTEGER NOT NULL,
    prize_cents INTEGER,
    arbiter_id INTEGER REFERENCES members (mem_id)
);

CREATE TABLE entries (
    tour_id INTEGER NOT NULL REFERENCES tournaments (tour_id),
    mem_id INTEGER NOT NULL REFERENCES members (mem_id),
    seed INTEGER NOT NULL,
    rtg_in INTEGER,
    wd_rnd INTEGER,
    fee_paid INTEGER NOT NULL,
    PRIMARY KEY (tour_id, mem_id)
);

CREATE TABLE openings (
    eco TEXT NOT NULL PRIMARY KEY,
    op_name TEXT NOT NULL,
    op_class TEXT NOT NULL
);

CREATE TABLE games (
    game_id INTEGER NOT NULL PRIMARY KEY,
    tour_id INTEGER REFERENCES tournaments (tour_id),
    rnd INTEGER,
    board INTEGER,
    g_date TEXT NOT NULL,
    white_id INTEGER NOT NULL REFERENCES members (mem_id),
    black_id INTEGER REFERENCES members (mem_id),
    result TEXT NOT NULL,
    eco TEXT REFERENCES openings (eco),
    plies INTEGER
);

CREATE TABLE ratings (
    mem_id INTEGER NOT NULL REFERENCES members (mem_id),
    list_mo TEXT NOT NULL,
    rtg INTEGER NOT NULL,
    n_games INTEGER NOT NULL,
    PRIMARY KEY (mem_id, list_mo)
);

CREATE TABLE dues (
    mem_id INTEGER NOT NULL REFERENCES members (mem_id),
    yr INTEGER NOT NULL,
    due_cents INTEGER NOT NULL,
    paid_cents INTEGER NOT NULL,
    paid_dt TEXT,
    method TEXT,
    PRIMARY KEY (mem_id, yr)
);

CREATE TABLE matches (
    match_id INTEGER NOT NULL PRIMARY KEY,
    season TEXT NOT NULL,
    team_cd TEXT NOT NULL,
    opp_club TEXT NOT NULL,
    ha TEXT NOT NULL,
    m_date TEXT NOT NULL
);

CREATE TABLE match_boards (
    match_id INTEGER NOT NULL REFERENCES matches (match_id),
    board INTEGER NOT NULL,
    mem_id INTEGER REFERENCES members (mem_id),
    colour TEXT NOT NULL,
    opp_rtg INTEGER,
    pts REAL NOT NULL,
    PRIMARY KEY (match_id, board)
);
