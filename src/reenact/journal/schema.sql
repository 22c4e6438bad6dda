CREATE TABLE journal_facts (
    one INTEGER PRIMARY KEY CHECK (one = 1), runs INTEGER NOT NULL, check_sum INTEGER NOT NULL);
CREATE TABLE run_rows (
    check_sum INTEGER NOT NULL, seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    pipeline TEXT NOT NULL, what TEXT NOT NULL, request TEXT NOT NULL, request_hash TEXT NOT NULL,
    argv TEXT NOT NULL, folder TEXT NOT NULL, fresh INTEGER NOT NULL, turn INTEGER NOT NULL,
    status TEXT NOT NULL, exit_code INTEGER, verdict TEXT, error_type TEXT, error TEXT,
    started_at TEXT NOT NULL, ended_at TEXT, worked_s REAL NOT NULL, executions INTEGER NOT NULL,
    steps INTEGER NOT NULL, steps_sum INTEGER NOT NULL, done INTEGER NOT NULL, reused INTEGER NOT NULL,
    failed INTEGER NOT NULL, money TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    unpriced INTEGER NOT NULL, version TEXT NOT NULL, python TEXT NOT NULL, host TEXT NOT NULL,
    boot TEXT NOT NULL, pid INTEGER NOT NULL, imported INTEGER NOT NULL, mac TEXT NOT NULL DEFAULT '');
CREATE INDEX run_by_request ON run_rows (pipeline, request_hash, turn);
CREATE INDEX run_by_turn ON run_rows (turn);
CREATE TABLE step_rows (
    check_sum INTEGER NOT NULL, number INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run_rows (seq) ON DELETE CASCADE, nr INTEGER NOT NULL,
    path TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, key TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL, started_at TEXT NOT NULL, ended_at TEXT,
    duration_s REAL NOT NULL, money TEXT, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    reused_from TEXT, error_type TEXT, error TEXT, error_next TEXT, final INTEGER NOT NULL,
    artefacts TEXT NOT NULL, inputs_digest TEXT NOT NULL, result_digest TEXT NOT NULL,
    inputs TEXT NOT NULL, result TEXT NOT NULL, mac TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX step_by_run ON step_rows (run, nr);
CREATE UNIQUE INDEX step_by_key ON step_rows (key, run);
CREATE INDEX step_by_path ON step_rows (run, path);
CREATE VIEW runs AS SELECT
    id, seq, pipeline, what, status, exit_code, verdict, error_type, error, started_at, ended_at, worked_s,
    executions, steps, done, reused, failed, CAST(money AS REAL) AS money, tokens_in, tokens_out, unpriced,
    request, argv, folder, fresh, version, python, imported FROM run_rows;
CREATE VIEW steps AS SELECT
    (SELECT id FROM run_rows WHERE seq = run) AS run, nr, path, kind, version, state, tries, started_at,
    ended_at, duration_s, CAST(money AS REAL) AS money, tokens_in, tokens_out, reused_from, error_type, error,
    key, inputs, result FROM step_rows;
