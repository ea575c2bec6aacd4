-- What a receiver says of an effect names the effect alone: from its stream to its account.
CREATE INDEX tf_stream_effect ON tf_stream (name) WHERE name >= 'effect/' AND name < 'effect0';
