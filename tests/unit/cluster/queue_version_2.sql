-- A queue of version 2, as Softmark of 30 November 2026 made it: our tables and policies, the rights of a worker's
-- account, and what a course had in it. It is never changed. Procrastinate's own tables come first, from the library.
SET search_path TO softmark_queue;
CREATE TABLE softmark_queue_version (
    version INTEGER NOT NULL,
    PRIMARY KEY (version)
);
CREATE TABLE courses (
    id VARCHAR(32) NOT NULL,
    title TEXT NOT NULL,
    weight INTEGER DEFAULT '1' NOT NULL,
    paused BOOLEAN DEFAULT false NOT NULL,
    line_end BIGINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT weight_in_range CHECK (weight BETWEEN 1 AND 1000)
);
CREATE TABLE workers (
    id BIGINT NOT NULL,
    name VARCHAR(200) NOT NULL,
    slots INTEGER NOT NULL,
    tier VARCHAR(8) NOT NULL,
    engine VARCHAR(32) NOT NULL,
    packages VARCHAR(16) NOT NULL,
    draining BOOLEAN DEFAULT false NOT NULL,
    graded BIGINT DEFAULT '0' NOT NULL,
    recent DOUBLE PRECISION DEFAULT '0' NOT NULL,
    recent_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    fault TEXT,
    started TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT known_tier CHECK (tier IN ('T1', 'T2', 'T3'))
);
CREATE TABLE worker_accounts (
    role VARCHAR(63) NOT NULL,
    course VARCHAR(32) NOT NULL,
    PRIMARY KEY (role, course),
    FOREIGN KEY(course) REFERENCES courses (id) ON DELETE CASCADE
);
CREATE TABLE items (
    course VARCHAR(32) NOT NULL,
    item VARCHAR(64) NOT NULL,
    version VARCHAR(128) NOT NULL,
    seed VARCHAR(64) NOT NULL,
    files TEXT NOT NULL,
    PRIMARY KEY (course, item, version),
    FOREIGN KEY(course) REFERENCES courses (id) ON DELETE CASCADE
);
CREATE TABLE item_files (
    course VARCHAR(32) NOT NULL,
    sha256 VARCHAR(64) NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (course, sha256),
    FOREIGN KEY(course) REFERENCES courses (id) ON DELETE CASCADE
);
CREATE TABLE programs (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    course VARCHAR(32) NOT NULL,
    student VARCHAR(32) NOT NULL,
    item VARCHAR(64) NOT NULL,
    version VARCHAR(128) NOT NULL,
    submission VARCHAR(64) NOT NULL,
    mode VARCHAR(16) NOT NULL,
    run VARCHAR(32) NOT NULL,
    queue VARCHAR(128) NOT NULL,
    interactive BOOLEAN NOT NULL,
    code TEXT NOT NULL,
    losses INTEGER DEFAULT '0' NOT NULL,
    tries INTEGER DEFAULT '0' NOT NULL,
    handed_over TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT uq_programs_submission UNIQUE (course, student, item, submission, version, mode),
    CONSTRAINT fk_programs_item FOREIGN KEY(course, item, version) REFERENCES items (course, item, version) ON DELETE CASCADE,
    CONSTRAINT counts_in_range CHECK (losses BETWEEN 0 AND 100 AND tries BETWEEN 0 AND 100)
);
CREATE INDEX ix_programs_run ON programs (run);
CREATE TABLE reports (
    program BIGINT NOT NULL,
    report TEXT,
    reason TEXT,
    worker VARCHAR(200) NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    handed_in TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (program),
    FOREIGN KEY(program) REFERENCES programs (id) ON DELETE CASCADE
);
ALTER TABLE softmark_queue.procrastinate_workers ADD COLUMN role name NOT NULL DEFAULT current_user;
-- A worker that is forgotten takes its facts along, whoever may see them.
ALTER TABLE softmark_queue.workers ADD CONSTRAINT fk_workers_id FOREIGN KEY (id)
    REFERENCES softmark_queue.procrastinate_workers ON DELETE CASCADE;

-- What a worker puts back is part of what it has in hand, and stands where that stood. Without this, an
-- account could put its programs before those of other courses, or make jobs of numbers that it can't know.
CREATE FUNCTION softmark_queue.softmark_is_in_hand(
    queue_ text, priority_ integer, lock_ text, args_ jsonb
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM softmark_queue.procrastinate_jobs j
        WHERE j.status = 'doing' AND j.queue_name = queue_ AND j.priority >= priority_
            AND j.lock IS NOT DISTINCT FROM lock_ AND (j.args->'programs') @> (args_->'programs')
    )
$$;

ALTER TABLE softmark_queue.worker_accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON softmark_queue.worker_accounts FOR SELECT USING (role = current_user);

ALTER TABLE softmark_queue.courses ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.courses FOR SELECT USING (id IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user));

ALTER TABLE softmark_queue.items ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.items FOR SELECT USING (course IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user));

ALTER TABLE softmark_queue.item_files ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.item_files FOR SELECT USING (course IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user));

ALTER TABLE softmark_queue.programs ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.programs FOR SELECT USING (course IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user));
CREATE POLICY counted ON softmark_queue.programs FOR UPDATE
    USING (course IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user)) WITH CHECK (course IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user));

ALTER TABLE softmark_queue.reports ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.reports FOR SELECT USING (EXISTS (SELECT FROM softmark_queue.programs p WHERE p.id = program));
CREATE POLICY first ON softmark_queue.reports FOR INSERT WITH CHECK (EXISTS (SELECT FROM softmark_queue.programs p WHERE p.id = program) AND coalesce(octet_length(report), 0) <= 4194304 AND coalesce(octet_length(reason), 0) <= 100000 AND seconds BETWEEN 0 AND 1000000);
-- Only a program that was set aside may get its report later.
CREATE POLICY after_all ON softmark_queue.reports FOR UPDATE
    USING (report IS NULL AND EXISTS (SELECT FROM softmark_queue.programs p WHERE p.id = program))
    WITH CHECK (report IS NOT NULL AND EXISTS (SELECT FROM softmark_queue.programs p WHERE p.id = program) AND coalesce(octet_length(report), 0) <= 4194304 AND coalesce(octet_length(reason), 0) <= 100000 AND seconds BETWEEN 0 AND 1000000);

ALTER TABLE softmark_queue.workers ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON softmark_queue.workers USING (EXISTS (
    SELECT FROM softmark_queue.procrastinate_workers w
    WHERE w.id = workers.id AND w.role = current_user
));

ALTER TABLE softmark_queue.procrastinate_workers ENABLE ROW LEVEL SECURITY;
-- Others' too, while they have this account's work in hand: somebody must see that they died.
CREATE POLICY concerned ON softmark_queue.procrastinate_workers FOR SELECT USING (
    role = current_user OR last_heartbeat < now() - interval '5 minutes' OR EXISTS (
        SELECT FROM softmark_queue.procrastinate_jobs j WHERE j.worker_id = procrastinate_workers.id
    )
);
CREATE POLICY new ON softmark_queue.procrastinate_workers FOR INSERT WITH CHECK (role = current_user);
CREATE POLICY own ON softmark_queue.procrastinate_workers FOR UPDATE
    USING (role = current_user) WITH CHECK (role = current_user);
CREATE POLICY dead ON softmark_queue.procrastinate_workers FOR DELETE
    USING (role = current_user OR last_heartbeat < now() - interval '5 minutes');

ALTER TABLE softmark_queue.procrastinate_jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.procrastinate_jobs FOR SELECT USING (split_part(queue_name, '.', 1) IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user));
CREATE POLICY put_back ON softmark_queue.procrastinate_jobs FOR INSERT WITH CHECK (
    split_part(queue_name, '.', 1) IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user) AND status = 'todo' AND queueing_lock IS NULL AND task_name = 'grade programs'
    AND (scheduled_at IS NULL OR scheduled_at < now() + interval '1 hour')
    AND softmark_queue.softmark_is_in_hand(queue_name::text, priority, lock, args)
);
CREATE POLICY claimed ON softmark_queue.procrastinate_jobs FOR UPDATE
    USING (split_part(queue_name, '.', 1) IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user)) WITH CHECK (split_part(queue_name, '.', 1) IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user) AND status IN ('todo', 'doing'));
CREATE POLICY finished ON softmark_queue.procrastinate_jobs FOR DELETE
    USING (split_part(queue_name, '.', 1) IN (SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user) AND status = 'doing');

ALTER TABLE softmark_queue.procrastinate_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_job ON softmark_queue.procrastinate_events FOR INSERT WITH CHECK (EXISTS (
    SELECT FROM softmark_queue.procrastinate_jobs j WHERE j.id = job_id
));

-- Without a policy: nobody but the owner sees a row. A trigger looks into it when a job is deleted.
ALTER TABLE softmark_queue.procrastinate_periodic_defers ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA softmark_queue TO grader1;
GRANT SELECT ON softmark_queue.softmark_queue_version TO grader1;
GRANT SELECT ON softmark_queue.worker_accounts TO grader1;
GRANT SELECT (id, paused) ON softmark_queue.courses TO grader1;
GRANT SELECT ON softmark_queue.items TO grader1;
GRANT SELECT ON softmark_queue.item_files TO grader1;
GRANT SELECT, UPDATE (losses, tries) ON softmark_queue.programs TO grader1;
GRANT SELECT, INSERT (program, report, reason, worker, seconds), UPDATE (report, reason, worker, seconds, handed_in) ON softmark_queue.reports TO grader1;
GRANT SELECT, INSERT (id, name, slots, tier, engine, packages), UPDATE (graded, fault, recent, recent_at) ON softmark_queue.workers TO grader1;
GRANT SELECT, INSERT (last_heartbeat), UPDATE (last_heartbeat), DELETE ON softmark_queue.procrastinate_workers TO grader1;
GRANT SELECT, UPDATE (status, worker_id, attempts), DELETE, INSERT (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at) ON softmark_queue.procrastinate_jobs TO grader1;
GRANT INSERT (job_id, type, at) ON softmark_queue.procrastinate_events TO grader1;
GRANT SELECT (job_id), UPDATE (job_id) ON softmark_queue.procrastinate_periodic_defers TO grader1;
GRANT USAGE ON SEQUENCE softmark_queue.procrastinate_jobs_id_seq TO grader1;
GRANT USAGE ON SEQUENCE softmark_queue.procrastinate_events_id_seq TO grader1;

INSERT INTO softmark_queue.softmark_queue_version VALUES
	(2);
INSERT INTO softmark_queue.courses VALUES
	('aaaaaaaaaaaa', 'Attention 2026', 1, false, 600);
INSERT INTO softmark_queue.worker_accounts VALUES
	('grader1', 'aaaaaaaaaaaa');
INSERT INTO softmark_queue.items VALUES
	('aaaaaaaaaaaa', 'softmax', 'v1', '00', '{}'),
	('aaaaaaaaaaaa', 'sdpa', 'v1', '00', '{}');
INSERT INTO softmark_queue.item_files VALUES
	('aaaaaaaaaaaa', '1111111111111111111111111111111111111111111111111111111111111111', '\x7072696e742829');
INSERT INTO softmark_queue.procrastinate_workers OVERRIDING SYSTEM VALUE VALUES
	(1, '2026-11-30 10:21:02.060297+00', 'grader1');
INSERT INTO softmark_queue.workers VALUES
	(1, 'old/1', 2, 'T2', '0123456789ab', 'abcdef', false, 1, 0.99838522182616, '2026-11-30 10:21:02.332022+00', NULL, '2026-11-30 10:21:02.060297+00');
INSERT INTO softmark_queue.procrastinate_jobs VALUES
	(6, 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', 'grade programs', 0, NULL, NULL, '{"programs": [3]}', 'todo', '2026-11-30 10:21:07.332022+00', 0, false, NULL),
	(7, 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', 'grade programs', -100, NULL, NULL, '{"programs": [4, 5]}', 'doing', NULL, 0, false, 1),
	(8, 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', 'grade programs', -300, NULL, NULL, '{"programs": [6, 7, 8]}', 'todo', NULL, 0, false, NULL),
	(9, 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', 'grade programs', 1000000000, 'aaaaaaaaaaaa/asks', NULL, '{"programs": [9]}', 'todo', NULL, 0, false, NULL);
INSERT INTO softmark_queue.programs OVERRIDING SYSTEM VALUE VALUES
	(2, 'aaaaaaaaaaaa', 'reported', 'sdpa', 'v1', 'reported sdpa', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of reported', 0, 0, '2026-11-30 10:21:02.084773+00'),
	(1, 'aaaaaaaaaaaa', 'failed', 'sdpa', 'v1', 'failed sdpa', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of failed', 0, 2, '2026-11-30 10:21:02.084773+00'),
	(3, 'aaaaaaaaaaaa', 'rests', 'sdpa', 'v1', 'rests sdpa', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of rests', 0, 1, '2026-11-30 10:21:02.308394+00'),
	(4, 'aaaaaaaaaaaa', 'in hand 1', 'softmax', 'v1', 'in hand 1 softmax', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of in hand 1', 0, 0, '2026-11-30 10:21:02.352936+00'),
	(5, 'aaaaaaaaaaaa', 'in hand 2', 'softmax', 'v1', 'in hand 2 softmax', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of in hand 2', 0, 0, '2026-11-30 10:21:02.352936+00'),
	(6, 'aaaaaaaaaaaa', 'waits 1', 'softmax', 'v1', 'waits 1 softmax', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of waits 1', 0, 0, '2026-11-30 10:21:02.379745+00'),
	(7, 'aaaaaaaaaaaa', 'waits 2', 'softmax', 'v1', 'waits 2 softmax', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of waits 2', 0, 0, '2026-11-30 10:21:02.379745+00'),
	(8, 'aaaaaaaaaaaa', 'waits 3', 'softmax', 'v1', 'waits 3 softmax', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', false, 'code of waits 3', 0, 0, '2026-11-30 10:21:02.379745+00'),
	(9, 'aaaaaaaaaaaa', 'asks', 'softmax', 'v1', 'asks softmax', 'marks', 'run', 'aaaaaaaaaaaa.T2.abcdef.0123456789ab', true, 'code of asks', 0, 0, '2026-11-30 10:21:02.402241+00');
INSERT INTO softmark_queue.reports VALUES
	(2, '{"score": 1}', NULL, 'old/1', 0.5, '2026-11-30 10:21:02.138092+00'),
	(1, NULL, 'no space left on the disk', '', 0, '2026-11-30 10:21:02.264166+00');
SELECT setval('softmark_queue.procrastinate_jobs_id_seq', 9, true);
SELECT setval('softmark_queue.procrastinate_workers_id_seq', 1, true);
SELECT setval('softmark_queue.programs_id_seq', 9, true);
