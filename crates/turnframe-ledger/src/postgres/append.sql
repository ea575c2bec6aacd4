-- One batch. $1 to $3 are the partitions that it asks, each once and in order of id, with the epoch at which it
-- believes to own them and the positions it needs. Every row that follows names its partition by its place
-- among them (slot). A partition whose epoch has moved on gives no positions, and takes no row.
--
-- Each part under a name writes one table, and is left out of a batch that has no row for it.
WITH asked AS MATERIALIZED (
    SELECT id, epoch, count, slot
    FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS a (id, epoch, count, slot)
), owned AS MATERIALIZED (
    SELECT p.id, a.count
    FROM asked a JOIN tf_partition p ON p.id = a.id AND p.epoch = a.epoch
    ORDER BY p.id
    FOR UPDATE OF p
), taken AS (
    UPDATE tf_partition p SET next_position = p.next_position + o.count
    FROM owned o WHERE p.id = o.id
    RETURNING p.id, p.next_position - o.count AS first
), granted AS MATERIALIZED (
    SELECT array_agg(t.first ORDER BY a.slot) AS firsts FROM asked a LEFT JOIN taken t ON t.id = a.id
)
--: accounts
, new_account AS (
    INSERT INTO tf_account (id, name, partition)
    SELECT r.id, r.name, ($1::smallint[])[r.slot]
    FROM unnest($4::int[], $5::bigint[], $6::text[]) AS r (slot, id, name), granted g
    WHERE g.firsts[r.slot] IS NOT NULL
)
--: streams
, new_stream AS (
    INSERT INTO tf_stream (id, account, name)
    SELECT r.id, r.account, r.name
    FROM unnest($7::int[], $8::bigint[], $9::bigint[], $10::text[]) AS r (slot, id, account, name), granted g
    WHERE g.firsts[r.slot] IS NOT NULL
)
--: entries
, new_entry AS (
    INSERT INTO tf_entry (place, account, stream, version, recorded_at, schema, id, kind, turn, causation,
        commitment, chain, parts, facts)
    SELECT (($1::smallint[])[r.slot])::bigint << 40 | (g.firsts[r.slot] + r.nth), r.account, r.stream, r.version,
        r.recorded_at, r.schema, r.id, r.kind, r.turn, r.causation, r.commitment, r.chain, r.parts, r.facts
    FROM unnest($11::int[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[],
            $17::int[], $18::bytea[], $19::text[], $20::text[], $21::bytea[], $22::bytea[], $23::bytea[],
            $24::bytea[], $25::bytea[])
        AS r (slot, nth, account, stream, version, recorded_at, schema, id, kind, turn, causation, commitment,
            chain, parts, facts), granted g
    WHERE g.firsts[r.slot] IS NOT NULL
)
--: keys
, new_key AS (
    INSERT INTO tf_key (account, stream, version, key, entry, digest)
    SELECT r.account, r.stream, r.version, r.key, r.entry, r.digest
    FROM unnest($26::int[], $27::bigint[], $28::bigint[], $29::bigint[], $30::text[], $31::bytea[], $32::bytea[])
        AS r (slot, account, stream, version, key, entry, digest), granted g
    WHERE g.firsts[r.slot] IS NOT NULL
)
--: cleared
, cleared AS (
    DELETE FROM tf_mark m
    USING unnest($33::int[], $34::bigint[], $35::text[], $36::text[]) AS r (slot, account, kind, key), granted g
    WHERE m.account = r.account AND m.kind = r.kind AND m.key = r.key AND g.firsts[r.slot] IS NOT NULL
)
--: marked
, marked AS (
    INSERT INTO tf_mark (account, stream, due, partition, kind, key)
    SELECT r.account, r.stream, r.due, ($1::smallint[])[r.slot], r.kind, r.key
    FROM unnest($37::int[], $38::bigint[], $39::bigint[], $40::bigint[], $41::text[], $42::text[])
        AS r (slot, account, stream, due, kind, key), granted g
    WHERE g.firsts[r.slot] IS NOT NULL
    ON CONFLICT (account, kind, key) DO UPDATE SET stream = excluded.stream, due = excluded.due
)
--: answer
SELECT firsts FROM granted
