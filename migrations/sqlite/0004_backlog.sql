-- What waits of effects, by destination (what stands before the first '/' of a key), the one due first in front: the
-- oldest is one step along the index, and so is the next destination, however much waits.
CREATE INDEX tf_mark_backlog ON tf_mark (kind, substr(key, 1, instr(key || '/', '/') - 1), due)
    WHERE kind = 'effect' OR kind = 'parked';
