PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE journal_facts (
        one INTEGER PRIMARY KEY CHECK (one = 1), runs INTEGER NOT NULL, check_sum INTEGER NOT NULL);
INSERT INTO "journal_facts" VALUES(1,2,1194436909880588445);
CREATE TABLE run_rows (
        check_sum INTEGER NOT NULL, seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
        story TEXT NOT NULL, what TEXT NOT NULL, request TEXT NOT NULL, request_hash TEXT NOT NULL,
        argv TEXT NOT NULL, folder TEXT NOT NULL, fresh INTEGER NOT NULL, turn INTEGER NOT NULL,
        status TEXT NOT NULL, exit_code INTEGER, verdict TEXT, error_type TEXT, error TEXT,
        started_at TEXT NOT NULL, ended_at TEXT, worked_s REAL NOT NULL, executions INTEGER NOT NULL,
        steps INTEGER NOT NULL, steps_sum INTEGER NOT NULL, done INTEGER NOT NULL, reused INTEGER NOT NULL,
        failed INTEGER NOT NULL, money TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
        unpriced INTEGER NOT NULL, version TEXT NOT NULL, python TEXT NOT NULL, host TEXT NOT NULL,
        boot TEXT NOT NULL, pid INTEGER NOT NULL, imported INTEGER NOT NULL);
INSERT INTO "run_rows" VALUES(2111129043876712913,1,'260101-xew9','tale','the whole tale','"whole"','286808f7fe3afec703d081641ffce162195e7107','["tale","whole"]','/',0,1,'finished',0,'{"verdict":"good"}',NULL,NULL,'2026-01-01T00:00:00.000+00:00','2026-01-01T00:00:04.500+00:00',4.5,1,4,8943662224033319777,4,0,0,'0.02',120,9,0,'0.1.0','3.11.7','0123456789ab','first boot',4711,0);
INSERT INTO "run_rows" VALUES(4646271711537144053,2,'260101-jvmf','tale','the half tale','"half"','17aa91115cbee719b7bf085a17c3e5eaccafc594','["tale","half"]','/',0,2,'stopped',NULL,NULL,NULL,NULL,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,1,4,7107525316902857088,1,3,0,'0',0,0,0,'0.1.0','3.11.7','0123456789ab','first boot',4711,0);
CREATE TABLE step_rows (
        check_sum INTEGER NOT NULL, number INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL REFERENCES run_rows (seq) ON DELETE CASCADE, nr INTEGER NOT NULL,
        path TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, key TEXT NOT NULL,
        state TEXT NOT NULL, tries INTEGER NOT NULL, started_at TEXT NOT NULL, ended_at TEXT,
        duration_s REAL NOT NULL, money TEXT, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
        reused_from TEXT, error_type TEXT, error TEXT, error_next TEXT, final INTEGER NOT NULL,
        artefacts TEXT NOT NULL, inputs_digest TEXT NOT NULL, result_digest TEXT NOT NULL,
        inputs TEXT NOT NULL, result TEXT NOT NULL);
INSERT INTO "step_rows" VALUES(8748901739926990322,1,1,1,'tale/ask','llm',1,'8347a5063ea93432c9be75dc2347d3eaedbfea0b','done',1,'2026-01-01T00:00:00.000+00:00','2026-01-01T00:00:01.500+00:00',1.5,'0.02',120,9,NULL,NULL,NULL,NULL,0,'[]','63739336e6bcebdb1423a5c2','331a85c9b7597e80fd16b0bf','{"prompt":"why"}','{"answer":"forty-two","score":0.5}');
INSERT INTO "step_rows" VALUES(7840157258165356442,2,1,2,'tale/seed0','trial',1,'1381ff731f80304c1c7f980c7d2ed5b1bf5d2133','done',1,'2026-01-01T00:00:01.500+00:00','2026-01-01T00:00:04.500+00:00',3.0,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','14cebf65f2300ed87737d5fc','1c9e98d1a250bfd81b51a084','0','0.25');
INSERT INTO "step_rows" VALUES(4329527740237367502,3,1,3,'tale/seed1','trial',1,'2188a49b52040336f090f01b9f6ecfe38cd302e4','done',1,'2026-01-01T00:00:01.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','902a7e1237f375f9588bac15','1c9e98d1a250bfd81b51a084','1','0.25');
INSERT INTO "step_rows" VALUES(6471819559413157127,4,1,4,'tale/choice','note',1,'95ea1d4f0ebdf104018de849646e7c01325cf8db','done',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','d9f16f6ef9a5bc1a9c0a2c98','67cc13495359cc7369ca2564','null','"the first"');
INSERT INTO "step_rows" VALUES(7112876052144615403,5,2,1,'tale/ask','llm',1,'8347a5063ea93432c9be75dc2347d3eaedbfea0b','reused',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,'260101-xew9',NULL,NULL,NULL,0,'[]','63739336e6bcebdb1423a5c2','331a85c9b7597e80fd16b0bf','{"prompt":"why"}','{"answer":"forty-two","score":0.5}');
INSERT INTO "step_rows" VALUES(696783250831118858,6,2,2,'tale/seed0','trial',1,'1381ff731f80304c1c7f980c7d2ed5b1bf5d2133','reused',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,'260101-xew9',NULL,NULL,NULL,0,'[]','14cebf65f2300ed87737d5fc','1c9e98d1a250bfd81b51a084','0','0.25');
INSERT INTO "step_rows" VALUES(926404765160456112,7,2,3,'tale/seed1','trial',1,'2188a49b52040336f090f01b9f6ecfe38cd302e4','reused',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,'260101-xew9',NULL,NULL,NULL,0,'[]','902a7e1237f375f9588bac15','1c9e98d1a250bfd81b51a084','1','0.25');
INSERT INTO "step_rows" VALUES(7594833285621442523,8,2,4,'tale/choice','note',1,'95ea1d4f0ebdf104018de849646e7c01325cf8db','done',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','d9f16f6ef9a5bc1a9c0a2c98','67cc13495359cc7369ca2564','null','"the first"');
CREATE INDEX run_by_request ON run_rows (story, request_hash, turn);
CREATE INDEX run_by_turn ON run_rows (turn);
CREATE UNIQUE INDEX step_by_run ON step_rows (run, nr);
CREATE UNIQUE INDEX step_by_key ON step_rows (key, run);
CREATE INDEX step_by_path ON step_rows (run, path);
CREATE VIEW runs AS SELECT
    id, seq, story, what, status, exit_code, verdict, error_type, error, started_at, ended_at, worked_s,
    executions, steps, done, reused, failed, CAST(money AS REAL) AS money, tokens_in, tokens_out, unpriced,
    request, argv, folder, fresh, version, python, imported FROM run_rows;
CREATE VIEW steps AS SELECT
    (SELECT id FROM run_rows WHERE seq = run) AS run, nr, path, kind, version, state, tries, started_at,
    ended_at, duration_s, CAST(money AS REAL) AS money, tokens_in, tokens_out, reused_from, error_type, error,
    key, inputs, result FROM step_rows;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('run_rows',2);
INSERT INTO "sqlite_sequence" VALUES('step_rows',8);
COMMIT;
