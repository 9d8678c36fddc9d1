-- When somebody last tried to tell its result, in Unix microseconds: those that fail must not hold up others.
ALTER TABLE fleet_prompts ADD COLUMN tried BIGINT NOT NULL DEFAULT 0;
