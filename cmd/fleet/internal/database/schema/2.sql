-- When a prompt came back from the service, or was added: the queue's order within a priority.
ALTER TABLE fleet_prompts ADD COLUMN queued BIGINT NOT NULL DEFAULT 0;
UPDATE fleet_prompts SET queued = added;
-- Who made a change: a machine, or NAME@HOST of a person's command.
ALTER TABLE fleet_history ADD COLUMN who TEXT NOT NULL DEFAULT '';
