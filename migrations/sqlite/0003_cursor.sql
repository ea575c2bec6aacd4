-- How far each domain actor has read each partition. It lies beside the entries, so that a backup holds both.
CREATE TABLE tf_cursor (
    follower  TEXT NOT NULL,
    partition INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    PRIMARY KEY (follower, partition)
) STRICT, WITHOUT ROWID;
