"""Grading on several machines: a queue on the course's PostgreSQL server, and workers that take from it.

The course's side hands programs over and collects reports (:mod:`engine.cluster.course_side`); workers
claim chunks of programs, grade them in their own sandbox and hand the reports in
(:mod:`engine.cluster.worker`). Between them lies nothing but the database (:mod:`engine.cluster.work_queue`):
no machine opens a port, and all that is exchanged is JSON and files with their hashes. Procrastinate's tables
and functions give each chunk to one worker at a time and know who is alive; that a program has one report is
a key of our own tables.
"""
