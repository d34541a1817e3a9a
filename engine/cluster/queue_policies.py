"""What an account for workers may do in the queue: row-level security, which the server itself enforces.

An account sees the rows of the courses that it was allowed (the table ``worker_accounts``) and adds reports
to them. Everything else is either not granted or hidden by a policy; the tables' owner isn't bound by
policies. The statements here are the whole of it: nothing in Python keeps a worker from anything, for whoever
has its password can speak SQL.
"""

from __future__ import annotations

from typing import Final

_COURSES: Final = "SELECT a.course FROM softmark_queue.worker_accounts a WHERE a.role = current_user"
# Those whose quizzes it may draw: it sees the keys of what it draws.
_DRAWING_COURSES: Final = f"{_COURSES} AND a.drawing"
_JOB_COURSE: Final = (
    f"split_part(queue_name, '.', 1) IN ({_COURSES}) AND (split_part(queue_name, '.', 2) <> 'draw'"
    f" OR split_part(queue_name, '.', 1) IN ({_DRAWING_COURSES}))"
)
_OWN_PROGRAM: Final = f"course IN ({_COURSES}) AND (mode <> 'drawing' OR course IN ({_DRAWING_COURSES}))"
_OWN_ITEM: Final = f"course IN ({_COURSES}) AND (NOT drawn OR course IN ({_DRAWING_COURSES}))"
# The files of the items that it sees, for its own policies hold in here too.
_OWN_FILE: Final = (
    "EXISTS (SELECT FROM softmark_queue.items i WHERE i.course = item_files.course"
    " AND position(item_files.sha256 IN i.files) > 0)"
)
# Rows are read by others, who can't take every moment that the server can ('infinity', years before Christ).
# Transactions that begin at once end in any order, so that a moment may lie a little ahead.
_SANE_MOMENT: Final = "{} BETWEEN '2020-01-01' AND now() + interval '1 minute'"
_PROGRAM: Final = "EXISTS (SELECT FROM softmark_queue.programs p WHERE p.id = program)"

# What the course's side reads of a report before it is checked. Even long reports have some ten thousand
# characters. NaN is greater than every number here.
_SANE_REPORT: Final = (
    "coalesce(octet_length(report), 0) <= 4194304 AND coalesce(octet_length(reason), 0) <= 100000"
    " AND seconds BETWEEN 0 AND 1000000"
)

# Longer than any worker's patience with another one: heartbeats are 60 s apart at most.
_SURELY_DEAD: Final = "last_heartbeat < now() - interval '5 minutes'"

# What a worker puts back is part of what it has in hand, and stands where that stood. Without this, an
# account could put its programs before those of other courses, or make jobs of numbers that it can't know. It
# may give the programs of one student the lock by which only one of them is graded at a time. As text, its
# numbers have digits only: for the server 5.0 is 5 too, and others would stumble over it.
IN_HAND: Final = """
CREATE OR REPLACE FUNCTION softmark_queue.softmark_is_in_hand(
    queue_ text, priority_ integer, lock_ text, args_ jsonb
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT args_ = jsonb_build_object('programs', args_->'programs') AND EXISTS (
        SELECT FROM softmark_queue.procrastinate_jobs j
        WHERE j.status = 'doing' AND j.queue_name = queue_ AND j.priority >= priority_
            AND (j.args->'programs') @> (args_->'programs')
            AND (args_->'programs')::text ~ '^[[][0-9, ]*[]]$'
            AND length(args_::text) <= length(j.args::text)
            AND (j.lock IS NOT DISTINCT FROM lock_ OR j.lock IS NULL AND NOT EXISTS (
                SELECT FROM jsonb_array_elements_text(args_->'programs') number
                LEFT JOIN softmark_queue.programs p ON p.id = number::bigint
                WHERE (p.course || '/' || p.student) IS DISTINCT FROM lock_
            ))
    )
$$;
"""

# What others read of a worker and its jobs is bounded, and nobody's job is put into another worker's hand: it
# would stay there as long as that one lives. A policy can't ask about its own table, but a function can.
WRITES: Final = f"""
CREATE OR REPLACE FUNCTION softmark_queue.softmark_is_mine(worker_ bigint)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM softmark_queue.procrastinate_workers w WHERE w.id = worker_ AND w.role = current_user
    )
$$;
CREATE OR REPLACE FUNCTION softmark_queue.softmark_has_few_workers()
RETURNS boolean LANGUAGE sql VOLATILE AS $$  -- which sees the rows that its own statement has added
    SELECT count(*) < 1000 FROM softmark_queue.procrastinate_workers w WHERE w.role = current_user
$$;
ALTER TABLE softmark_queue.procrastinate_workers
    ADD COLUMN dead_after_s double precision NOT NULL DEFAULT 45
        CONSTRAINT sane_patience CHECK (dead_after_s BETWEEN 0.1 AND 300);
CREATE POLICY new ON softmark_queue.procrastinate_workers FOR INSERT WITH CHECK (
    role = current_user AND {_SANE_MOMENT.format("last_heartbeat")}
    AND softmark_queue.softmark_has_few_workers()
);
CREATE POLICY own ON softmark_queue.procrastinate_workers FOR UPDATE
    USING (role = current_user)
    WITH CHECK (role = current_user AND {_SANE_MOMENT.format("last_heartbeat")});
CREATE POLICY own ON softmark_queue.workers USING (softmark_queue.softmark_is_mine(id)) WITH CHECK (
    softmark_queue.softmark_is_mine(id) AND slots BETWEEN 1 AND 1000
    AND graded BETWEEN 0 AND 1000000000000 AND recent BETWEEN 0 AND 1000000000
    AND {_SANE_MOMENT.format("recent_at")} AND coalesce(octet_length(fault), 0) <= 10000
);
-- Only a program that was set aside may get its report later.
CREATE POLICY after_all ON softmark_queue.reports FOR UPDATE
    USING (report IS NULL AND {_PROGRAM})
    WITH CHECK (
        report IS NOT NULL AND {_PROGRAM} AND {_SANE_REPORT} AND {_SANE_MOMENT.format("handed_in")}
    );
"""

WORK_POLICIES: Final = f"""
ALTER TABLE softmark_queue.items ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.items FOR SELECT USING ({_OWN_ITEM});

ALTER TABLE softmark_queue.item_files ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.item_files FOR SELECT USING ({_OWN_FILE});

ALTER TABLE softmark_queue.programs ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.programs FOR SELECT USING ({_OWN_PROGRAM});
CREATE POLICY counted ON softmark_queue.programs FOR UPDATE
    USING ({_OWN_PROGRAM}) WITH CHECK ({_OWN_PROGRAM});

ALTER TABLE softmark_queue.procrastinate_jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.procrastinate_jobs FOR SELECT USING ({_JOB_COURSE});
CREATE POLICY put_back ON softmark_queue.procrastinate_jobs FOR INSERT WITH CHECK (
    {_JOB_COURSE} AND status = 'todo' AND queueing_lock IS NULL AND task_name = 'grade programs'
    AND (scheduled_at IS NULL OR scheduled_at BETWEEN '2020-01-01' AND now() + interval '1 hour')
    AND softmark_queue.softmark_is_in_hand(queue_name::text, priority, lock, args)
);
CREATE POLICY claimed ON softmark_queue.procrastinate_jobs FOR UPDATE
    USING ({_JOB_COURSE}) WITH CHECK (
        {_JOB_COURSE} AND attempts BETWEEN 0 AND 2000000
        AND (status = 'todo' OR status = 'doing' AND softmark_queue.softmark_is_mine(worker_id))
    );
CREATE POLICY finished ON softmark_queue.procrastinate_jobs FOR DELETE
    USING ({_JOB_COURSE} AND status = 'doing');
"""
"""What of a course's work an account sees: all but what is drawn, and that if it may draw."""

# Procrastinate's functions run as their caller, so that its tables need policies like ours.
QUEUE_POLICIES: Final = f"""
ALTER TABLE softmark_queue.procrastinate_workers ADD COLUMN role name NOT NULL DEFAULT current_user;
-- A worker that is forgotten takes its facts along, whoever may see them.
ALTER TABLE softmark_queue.workers ADD CONSTRAINT fk_workers_id FOREIGN KEY (id)
    REFERENCES softmark_queue.procrastinate_workers ON DELETE CASCADE;

{IN_HAND}{WRITES}ALTER TABLE softmark_queue.worker_accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON softmark_queue.worker_accounts FOR SELECT USING (role = current_user);

ALTER TABLE softmark_queue.courses ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.courses FOR SELECT USING (id IN ({_COURSES}));

ALTER TABLE softmark_queue.reports ENABLE ROW LEVEL SECURITY;
CREATE POLICY allowed ON softmark_queue.reports FOR SELECT USING ({_PROGRAM});
CREATE POLICY first ON softmark_queue.reports FOR INSERT WITH CHECK ({_PROGRAM} AND {_SANE_REPORT});

ALTER TABLE softmark_queue.workers ENABLE ROW LEVEL SECURITY;

ALTER TABLE softmark_queue.procrastinate_workers ENABLE ROW LEVEL SECURITY;
-- Others' too, while they have this account's work in hand: somebody must see that they died.
CREATE POLICY concerned ON softmark_queue.procrastinate_workers FOR SELECT USING (
    role = current_user OR {_SURELY_DEAD} OR EXISTS (
        SELECT FROM softmark_queue.procrastinate_jobs j WHERE j.worker_id = procrastinate_workers.id
    )
);
CREATE POLICY dead ON softmark_queue.procrastinate_workers FOR DELETE
    USING (role = current_user OR {_SURELY_DEAD});

{WORK_POLICIES}
ALTER TABLE softmark_queue.procrastinate_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_job ON softmark_queue.procrastinate_events FOR INSERT WITH CHECK (EXISTS (
    SELECT FROM softmark_queue.procrastinate_jobs j WHERE j.id = job_id
));

-- Without a policy: nobody but the owner sees a row. A trigger looks into it when a job is deleted.
ALTER TABLE softmark_queue.procrastinate_periodic_defers ENABLE ROW LEVEL SECURITY;
"""

WORKER_RIGHTS: Final = {
    "softmark_queue_version": "SELECT",
    "worker_accounts": "SELECT",
    "courses": "SELECT (id, paused)",
    "items": "SELECT",
    "item_files": "SELECT",
    "programs": "SELECT, UPDATE (losses, tries, tried_by, one_by_one)",
    "reports": "SELECT, INSERT (program, report, reason, worker, seconds),"
    " UPDATE (report, reason, worker, seconds, handed_in)",
    "workers": "SELECT, INSERT (id, name, slots, tier, engine, packages),"
    " UPDATE (graded, fault, recent, recent_at)",
    "procrastinate_workers": "SELECT, INSERT (last_heartbeat), UPDATE (last_heartbeat, dead_after_s), DELETE",
    "procrastinate_jobs": "SELECT, UPDATE (status, worker_id, attempts), DELETE,"
    " INSERT (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)",
    "procrastinate_events": "INSERT (job_id, type, at)",
    "procrastinate_periodic_defers": "SELECT (job_id), UPDATE (job_id)",
}
"""What an account for workers is granted, by table of the queue: what `grade worker` uses, and no more."""

_SEQUENCES: Final = ("procrastinate_jobs_id_seq", "procrastinate_events_id_seq")


def worker_grants(role: str) -> list[str]:
    """Return the statements that give a role what a worker needs of the queue's tables, and take all else.

    Parameters
    ----------
    role : str
        Quoted.
    """
    return [
        # From nothing: what was given to it by hand goes.
        f"REVOKE ALL ON ALL TABLES IN SCHEMA softmark_queue FROM PUBLIC, {role}",
        f"GRANT USAGE ON SCHEMA softmark_queue TO {role}",
        *(f"GRANT {rights} ON softmark_queue.{table} TO {role}" for table, rights in WORKER_RIGHTS.items()),
        *(f"GRANT USAGE ON SEQUENCE softmark_queue.{sequence} TO {role}" for sequence in _SEQUENCES),
    ]
