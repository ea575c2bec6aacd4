-- The ledger. Names are interned: an entry, a key and a mark carry small integers in place of an account and
-- a stream. Every stream belongs to one account, so a key that leads with a stream leads with its account.
-- Text is compared by its bytes (COLLATE "C"), as on every backend.

-- What must not change after creation: the layout's version and the function from account to partition.
CREATE TABLE tf_meta (
    name  text COLLATE "C" NOT NULL PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);

-- The processes. One that did not renew its lease, by this database's clock, owns nothing any more. The lease is
-- the process's and not the partition's: renewing it touches one row, and no row that an append locks.
CREATE TABLE tf_node (
    id          bytea NOT NULL PRIMARY KEY,
    address     text COLLATE "C" NOT NULL,
    lease_until timestamptz NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Positions are handed out here, inside the append's transaction and only under the right epoch: the row lock that
-- orders the writers of a partition makes the order of positions the order of commits, and the epoch fences an
-- owner that has lost its lease, in the same statement. Every batch updates these rows: room on the page keeps
-- the new version beside the old one (HOT), and few dead rows are let stand.
CREATE TABLE tf_partition (
    id            smallint NOT NULL PRIMARY KEY,
    next_position bigint NOT NULL,
    epoch         bigint NOT NULL,
    owner         bytea
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

INSERT INTO tf_partition (id, next_position, epoch) SELECT id, 1, 0 FROM generate_series(0, 63) AS id;

CREATE TABLE tf_account (
    id        bigint NOT NULL PRIMARY KEY,
    name      text COLLATE "C" NOT NULL UNIQUE,
    partition smallint NOT NULL
);

CREATE TABLE tf_stream (
    id      bigint NOT NULL PRIMARY KEY,
    account bigint NOT NULL,
    name    text COLLATE "C" NOT NULL,
    UNIQUE (account, name)
);

-- A process takes a block of ids at a time and hands them out by itself.
CREATE SEQUENCE tf_name_block AS bigint INCREMENT BY 1048576 MINVALUE 0 START 0;

-- place = partition << 40 | position: reading by position runs along one index, and a batch's rows lie together.
-- The facts come last, so that looking at a header does not read past them. A row is kept whole on its page up to
-- 8,160 bytes: compressing every payload of 2 KiB would cost more than the page it saves.
CREATE TABLE tf_entry (
    place       bigint NOT NULL PRIMARY KEY,
    account     bigint NOT NULL,
    stream      bigint NOT NULL,
    version     bigint NOT NULL,
    recorded_at bigint NOT NULL,
    schema      integer NOT NULL,
    id          bytea NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    turn        text COLLATE "C",
    causation   bytea,
    commitment  bytea NOT NULL,
    chain       bytea NOT NULL,
    -- Canonical JSON of the personal parts; an erasure rewrites it in place.
    parts       bytea,
    -- Canonical JSON, the very bytes that were committed to.
    facts       bytea NOT NULL,
    UNIQUE (stream, version)
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0,
        autovacuum_vacuum_insert_threshold = 1000000);

-- Idempotency keys live as long as their entries: they are never deleted.
CREATE TABLE tf_key (
    account bigint NOT NULL,
    stream  bigint NOT NULL,
    version bigint NOT NULL,
    key     text COLLATE "C" NOT NULL,
    entry   bytea NOT NULL,
    digest  bytea NOT NULL,
    PRIMARY KEY (account, key)
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000);

-- Open work and memberships, set and cleared with the entries they belong to. Most rows live for milliseconds: the
-- table stays small as long as the dead ones are taken away by their number and not by a share of the living.
CREATE TABLE tf_mark (
    account   bigint NOT NULL,
    stream    bigint NOT NULL,
    due       bigint NOT NULL,
    partition smallint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, kind, key)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0);

-- The one index that no account leads: the process that owns a partition sweeps its open work for all of them,
-- and a sweep must not cost more than what is open.
CREATE INDEX tf_mark_sweep ON tf_mark (kind, partition, due);
