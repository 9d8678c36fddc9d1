-- The key of the prompt whose job this one is a message to. One prompt follows another at most.
ALTER TABLE fleet_prompts ADD COLUMN follows TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX IF NOT EXISTS fleet_prompts_follows ON fleet_prompts (follows) WHERE follows <> '';
-- No turn is given to the prompt before: its job has been found at work.
ALTER TABLE fleet_prompts ADD COLUMN not_before BIGINT NOT NULL DEFAULT 0;
-- Comments of which it is not known yet whether they are for the job of a prompt.
CREATE TABLE IF NOT EXISTS fleet_comments (
	id BIGINT PRIMARY KEY, -- GitHub's
	key TEXT NOT NULL,     -- in the marker of the pull request's description
	pull TEXT NOT NULL,    -- owner/repo#7
	url TEXT NOT NULL,     -- of the pull request
	author TEXT NOT NULL, text TEXT NOT NULL, at BIGINT NOT NULL
);
