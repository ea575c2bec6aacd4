-- How far each domain actor has read each partition. It lies beside the entries, so that a backup holds both.
CREATE TABLE tf_cursor (
    follower  text COLLATE "C" NOT NULL,
    partition smallint NOT NULL,
    position  bigint NOT NULL,
    PRIMARY KEY (follower, partition)
) WITH (fillfactor = 50);
