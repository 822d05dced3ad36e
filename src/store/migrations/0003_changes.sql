-- What an attempt has changed of a subscription: for each field what was before and what is now. Null: nothing.
alter table webhook_attempt
  add column subscription_id uuid,
  add column changes json,
  -- In the order of application, also of those that were applied together.
  add column changed_at timestamptz;

-- By nothing else: the shorter the entries, the less every event pays. One subscription's changes are soon sorted.
create index webhook_attempt_changes on webhook_attempt (subscription_id) where subscription_id is not null;

-- For looking people up by how their address, name or last word of the name begins. In the order of bytes, and each
-- entry different from all others, so that a page may begin behind any of them.
create index user_by_address on "user" (email text_pattern_ops);
create index user_by_name on "user" ((lower(name) || chr(1) || id) text_pattern_ops);
create index user_by_last_name on "user" ((lower(substring(name from '[^ ]+$')) || chr(1) || id) text_pattern_ops)
  where position(' ' in name) > 0;
