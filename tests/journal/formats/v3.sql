PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE journal_facts (
        one INTEGER PRIMARY KEY CHECK (one = 1), runs INTEGER NOT NULL, check_sum INTEGER NOT NULL);
INSERT INTO "journal_facts" VALUES(1,2,1194436909880588445);
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
INSERT INTO "run_rows" VALUES(1831430702941612972,1,'260101-2udq','tale','the whole tale','"whole"','286808f7fe3afec703d081641ffce162195e7107','["tale","whole"]','/',0,1,'finished',0,'{"verdict":"good"}',NULL,NULL,'2026-01-01T00:00:00.000+00:00','2026-01-01T00:00:04.500+00:00',4.5,1,4,525107867249220635,4,0,0,'0.02',120,9,0,'0.1.0','3.11.7','0123456789ab','first boot',4711,0,'4b41987c7d66fbd9189f5958f8e34182da0241834ad053b68b5dbc8916fc5d87');
INSERT INTO "run_rows" VALUES(8533194479888779639,2,'260101-kcu6','tale','the half tale','"half"','17aa91115cbee719b7bf085a17c3e5eaccafc594','["tale","half"]','/',0,2,'stopped',NULL,NULL,NULL,NULL,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,1,4,8518882884369511379,1,3,0,'0',0,0,0,'0.1.0','3.11.7','0123456789ab','first boot',4711,0,'f29b5a2f692416cfec0bba4171e70453ba63984f232112ae80f054ea9193d191');
CREATE TABLE step_rows (
        check_sum INTEGER NOT NULL, number INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL REFERENCES run_rows (seq) ON DELETE CASCADE, nr INTEGER NOT NULL,
        path TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, key TEXT NOT NULL,
        state TEXT NOT NULL, tries INTEGER NOT NULL, started_at TEXT NOT NULL, ended_at TEXT,
        duration_s REAL NOT NULL, money TEXT, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
        reused_from TEXT, error_type TEXT, error TEXT, error_next TEXT, final INTEGER NOT NULL,
        artefacts TEXT NOT NULL, inputs_digest TEXT NOT NULL, result_digest TEXT NOT NULL,
        inputs TEXT NOT NULL, result TEXT NOT NULL, mac TEXT NOT NULL DEFAULT '');
INSERT INTO "step_rows" VALUES(7936903031102180161,1,1,1,'tale/ask','llm',1,'8347a5063ea93432c9be75dc2347d3eaedbfea0b','done',1,'2026-01-01T00:00:00.000+00:00','2026-01-01T00:00:01.500+00:00',1.5,'0.02',120,9,NULL,NULL,NULL,NULL,0,'[]','76ee157fc28bf766f3145cb81379586cc98196238620b395873edf43c5c1c3f4','cd2d87b3b51938cdb8a98bacc048fa0aa7fc9033c26371ddadc848e0a1d13f64','{"prompt":"why"}','{"answer":"forty-two","score":0.5}','f152e89734d237f796ec261b1e25199f825ad8cd3ee3f9cdd1e7b08518c46e86');
INSERT INTO "step_rows" VALUES(848638353855091844,2,1,2,'tale/seed0','trial',1,'1381ff731f80304c1c7f980c7d2ed5b1bf5d2133','done',1,'2026-01-01T00:00:01.500+00:00','2026-01-01T00:00:04.500+00:00',1.5,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','0fd923ca5e7218c4ba3c3801c26a617ecdbfdaebb9c76ce2eca166e7855efbb8','87035cf114e5c0fe8e53d7a90eae8dd52dc8178252d7e63a1b41960bebe6a617','0','0.25','deb29fffab3e7cb9b66b62c4dcc95d20f1968f0e777d84ce32ee71487e5a14d5');
INSERT INTO "step_rows" VALUES(696797162348838767,3,1,3,'tale/seed1','trial',1,'2188a49b52040336f090f01b9f6ecfe38cd302e4','done',1,'2026-01-01T00:00:01.500+00:00','2026-01-01T00:00:04.500+00:00',1.5,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','92cdf578c47085a5992256f0dcf97d0b19f1f1c9de4d5fe30c3ace6191b6e5db','87035cf114e5c0fe8e53d7a90eae8dd52dc8178252d7e63a1b41960bebe6a617','1','0.25','945c56c05fa6b7e91c255484a1fdb53df8a93d3c7be664a121aaf9afed1c253f');
INSERT INTO "step_rows" VALUES(266141356797885671,4,1,4,'tale/choice','note',1,'95ea1d4f0ebdf104018de849646e7c01325cf8db','done',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','6bfb9a89e7917438ddb17fb73d74243df565eae70968b5a290cf5f3563d76bef','666f4993fa52d188b992d310edaf92a7b6683241a6b7df65f9a7f792df693904','null','"the first"','c329dbd3e0e40e51b150bcea924fd421eda7f65716d2ad2ee76915b13dec45cb');
INSERT INTO "step_rows" VALUES(5208267596496383328,5,2,1,'tale/ask','llm',1,'8347a5063ea93432c9be75dc2347d3eaedbfea0b','reused',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,'260101-2udq',NULL,NULL,NULL,0,'[]','76ee157fc28bf766f3145cb81379586cc98196238620b395873edf43c5c1c3f4','cd2d87b3b51938cdb8a98bacc048fa0aa7fc9033c26371ddadc848e0a1d13f64','{"prompt":"why"}','{"answer":"forty-two","score":0.5}','ec0488b5d5a38554aa5ff28c5188c5f20922a302950aa8895a996424b8b9e290');
INSERT INTO "step_rows" VALUES(7171109319321789134,6,2,2,'tale/seed0','trial',1,'1381ff731f80304c1c7f980c7d2ed5b1bf5d2133','reused',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,'260101-2udq',NULL,NULL,NULL,0,'[]','0fd923ca5e7218c4ba3c3801c26a617ecdbfdaebb9c76ce2eca166e7855efbb8','87035cf114e5c0fe8e53d7a90eae8dd52dc8178252d7e63a1b41960bebe6a617','0','0.25','9ba11a13961a7614a8bbf2f91ee7e50ee3ccb82ebb115932c2ddb406172528b6');
INSERT INTO "step_rows" VALUES(7803474784741878055,7,2,3,'tale/seed1','trial',1,'2188a49b52040336f090f01b9f6ecfe38cd302e4','reused',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,'260101-2udq',NULL,NULL,NULL,0,'[]','92cdf578c47085a5992256f0dcf97d0b19f1f1c9de4d5fe30c3ace6191b6e5db','87035cf114e5c0fe8e53d7a90eae8dd52dc8178252d7e63a1b41960bebe6a617','1','0.25','a8f933f3be8417060efab110f828cf3d1ff66e74e43f6e06aae42c457ec62d2b');
INSERT INTO "step_rows" VALUES(6782775257519012478,8,2,4,'tale/choice','note',1,'95ea1d4f0ebdf104018de849646e7c01325cf8db','done',1,'2026-01-01T00:00:04.500+00:00','2026-01-01T00:00:04.500+00:00',0.0,'0',0,0,NULL,NULL,NULL,NULL,0,'[]','6bfb9a89e7917438ddb17fb73d74243df565eae70968b5a290cf5f3563d76bef','666f4993fa52d188b992d310edaf92a7b6683241a6b7df65f9a7f792df693904','null','"the first"','1e7ff11f27f40c843b0041a8b7ed95048ce41096208b0f412a0a54df8c83ae84');
CREATE INDEX run_by_request ON run_rows (pipeline, request_hash, turn);
CREATE INDEX run_by_turn ON run_rows (turn);
CREATE UNIQUE INDEX step_by_run ON step_rows (run, nr);
CREATE UNIQUE INDEX step_by_key ON step_rows (key, run);
CREATE INDEX step_by_path ON step_rows (run, path);
CREATE VIEW steps AS SELECT
    (SELECT id FROM run_rows WHERE seq = run) AS run, nr, path, kind, version, state, tries, started_at,
    ended_at, duration_s, CAST(money AS REAL) AS money, tokens_in, tokens_out, reused_from, error_type, error,
    key, inputs, result FROM step_rows;
CREATE VIEW runs AS SELECT
    id, seq, pipeline, what, status, exit_code, verdict, error_type, error, started_at, ended_at, worked_s,
    executions, steps, done, reused, failed, CAST(money AS REAL) AS money, tokens_in, tokens_out, unpriced,
    request, argv, folder, fresh, version, python, imported FROM run_rows;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('run_rows',2);
INSERT INTO "sqlite_sequence" VALUES('step_rows',8);
COMMIT;
